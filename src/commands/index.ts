import type { Command } from '../intent/define.ts';
import { serviceList } from './service-list.ts';
import { serviceShow } from './service-show.ts';
import { serviceStart } from './service-start.ts';
import { serviceStop } from './service-stop.ts';

export const commands: readonly Command[] = [serviceList, serviceShow, serviceStart, serviceStop];
