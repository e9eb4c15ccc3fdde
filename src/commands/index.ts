import type { Command } from '../intent/define.ts';
import { alertEdit } from './alert-edit.ts';
import { alertList } from './alert-list.ts';
import { alertShow } from './alert-show.ts';
import { backupList } from './backup-list.ts';
import { backupShow } from './backup-show.ts';
import { changeCancel } from './change-cancel.ts';
import { changeFreeze } from './change-freeze.ts';
import { changeFreezes } from './change-freezes.ts';
import { changeList } from './change-list.ts';
import { changeLog } from './change-log.ts';
import { changeShow } from './change-show.ts';
import { changeUnfreeze } from './change-unfreeze.ts';
import { changeWho } from './change-who.ts';
import { cost } from './cost.ts';
import { costAnomalies } from './cost-anomalies.ts';
import { costBudget } from './cost-budget.ts';
import { costCsv } from './cost-csv.ts';
import { costDigest } from './cost-digest.ts';
import { costForecast } from './cost-forecast.ts';
import { costWhy } from './cost-why.ts';
import { endpointCreate } from './endpoint-create.ts';
import { endpointList } from './endpoint-list.ts';
import { pipeList } from './pipe-list.ts';
import { pipeSettings } from './pipe-settings.ts';
import { serviceCreate } from './service-create.ts';
import { serviceList } from './service-list.ts';
import { serviceScale } from './service-scale.ts';
import { serviceSchedule } from './service-schedule.ts';
import { serviceScheduleList } from './service-schedule-list.ts';
import { serviceSchedulePause } from './service-schedule-pause.ts';
import { serviceScheduleRemove } from './service-schedule-remove.ts';
import { serviceScheduleResume } from './service-schedule-resume.ts';
import { serviceShow } from './service-show.ts';
import { serviceStart } from './service-start.ts';
import { serviceStop } from './service-stop.ts';

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
  // “trail accept” is the button “Accept gap…” of the notice about a broken audit trail.
  queries: [...namesOfKind('query'), 'trail accept'],
  changes: namesOfKind('change'),
};
