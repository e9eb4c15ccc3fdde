import type { Target } from '../domain/change.ts';
import { EVERYTHING } from '../domain/freezes.ts';
import { alertEdit } from './alert-edit.ts';
import { alertList, alertShow } from './alert-read.ts';
import { changeAllow } from './allow.ts';
import { fieldsOf } from './arguments.ts';
import { backupList, backupShow } from './backup.ts';
import { changeCancel, changeList, changeLog, changeShow, changeWho } from './change.ts';
import {
  cost,
  costAnomalies,
  costBudget,
  costCsv,
  costDigest,
  costForecast,
  costWhy,
} from './cost.ts';
import type { ChangeCommand, Command } from './define.ts';
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

export function changesFreezes(change: ChangeCommand | undefined): boolean {
  return change?.call === 'PUT freeze';
}

export function takesService({ args }: Pick<ChangeCommand, 'args'>): boolean {
  return fieldsOf(args).some(({ names }) => names === 'service');
}

/** An alert or a new service. Neither has tags or a warehouse. */
export function untaggedTarget(command: string): Target {
  const kind = command.startsWith('alert') ? 'alert' : 'new service';
  return { kind, id: EVERYTHING.id, name: command, tags: [], warehouse: null };
}
