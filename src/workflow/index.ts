export {
  authorizeDetails,
  authorizeForm,
  authorizeForms,
  authorizePress,
  authorizeQuery,
  authorizeRequester,
} from './authorize.ts';
export { directRecipients } from './cards.ts';
export type * from './context.ts';
export { takeOver } from './execute.ts';
export { createFreezeService } from './freezes.ts';
export { createJobLoop, type JobKinds, type JobLoop } from './jobs.ts';
export { jobKinds, upkeepJobs } from './kinds.ts';
export { createChangesQueries } from './lists.ts';
export { type MaintenanceJob, startMaintenance, startPresence } from './maintenance.ts';
export { limitedUntil } from './rates.ts';
export { rebuildAll } from './rebuild.ts';
export { createScheduleService } from './schedules.ts';
export { MESSAGE_KINDS } from './show.ts';
export { isOperatorOf } from './target.ts';
export { createWhoQueries } from './who.ts';
export { checkChannels, mendLog, timeline } from './witness.ts';
