import { alertEdit } from './alert-edit.ts';
import { alertList, alertShow } from './alert-read.ts';
import { changeAllow } from './allow.ts';
import { backupList, backupShow } from './backup.ts';
import { changeCancel, changeList, changeShow } from './change.ts';
import { changeLog } from './change-log.ts';
import {
  cost,
  costAnomalies,
  costBudget,
  costCsv,
  costDigest,
  costForecast,
  costWhy,
} from './cost.ts';
import type { Command } from './define.ts';
import { endpointCreate, endpointList } from './endpoint.ts';
import { changeFreeze, changeFreezes, changeUnfreeze } from './freeze.ts';
import { pipeList, pipeSettings } from './pipe.ts';
import { serviceCreate } from './service-create.ts';
import { serviceList, serviceShow } from './service-read.ts';
import { serviceScale } from './service-scale.ts';
import {
  serviceSchedule,
  serviceScheduleList,
  serviceSchedulePause,
  serviceScheduleRemove,
  serviceScheduleResume,
} from './service-schedule.ts';
import { serviceStart, serviceStop } from './service-state.ts';
import { changeWho } from './who.ts';

export const commands: readonly Command[] = [
  serviceList,
  serviceShow,
  serviceStart,
  serviceStop,
  serviceScale,
  serviceSchedule,
  serviceScheduleList,
  serviceSchedulePause,
  serviceScheduleResume,
  serviceScheduleRemove,
  serviceCreate,
  endpointList,
  endpointCreate,
  backupList,
  backupShow,
  pipeList,
  pipeSettings,
  alertList,
  alertShow,
  alertEdit,
  changeFreeze,
  changeUnfreeze,
  changeAllow,
  changeFreezes,
  changeWho,
  changeList,
  changeShow,
  changeLog,
  changeCancel,
  cost,
  costCsv,
  costForecast,
  costWhy,
  costDigest,
  costAnomalies,
  costBudget,
];

/** The description of each noun in Slack's list of slash commands. */
export const nouns: Readonly<Record<string, string>> = {
  service: 'List, show, start, stop, scale, schedule and create services',
  endpoint: 'List and create private endpoints',
  backup: 'List backups, or look one up',
  pipe: 'List data pipes, or look up the settings of one',
  alert: 'Find, show and edit alerts',
  change: 'List, show, log and cancel changes, permissions, freezes',
  cost: 'Costs: mtd, 7d, last-month …, by service or day',
  signalbox: 'Help, and what you may do',
};

const namesOfKind = (kind: Command['kind']) =>
  commands.filter((command) => command.kind === kind).map(({ name }) => name);

/** The command names that a policy can use. */
export const commandNames = {
  queries: namesOfKind('query'),
  changes: namesOfKind('change'),
};
