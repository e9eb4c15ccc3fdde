import type { Command } from '../intent/define.ts';
import { serviceList } from './service-list.ts';
import { serviceShow } from './service-show.ts';
import { serviceStart } from './service-start.ts';
import { serviceStop } from './service-stop.ts';

export const commands: readonly Command[] = [serviceList, serviceShow, serviceStart, serviceStop];

/** What Slack shows of each noun while people type; `signalbox` alone has no verbs. */
export const nouns: Readonly<Record<string, string>> = {
  service: 'Look at services, start and stop them',
  signalbox: 'Help, and what you may do',
};

/** Names that a policy may mention already, though no command of that name can be typed yet. */
export const reserved = {
  queries: ['backup show', 'pipe settings', 'cost', 'alert list', 'alert show', 'change list'],
  changes: ['service create', 'service scale', 'endpoint create', 'alert edit'],
} as const;
