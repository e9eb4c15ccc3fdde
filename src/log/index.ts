export { Damaged, WentBack } from './chain.ts';
export { listChanges, loadChange } from './changes.ts';
export { eventsBefore, type LoggedEvent } from './history.ts';
export {
  type ActiveConfiguration,
  activateConfiguration,
  activeConfiguration,
  inForce,
  recordedIds,
  recordIds,
} from './installation.ts';
export {
  KeyProblem,
  type LogKeys,
  placeKeys,
  readKeys,
  sealText,
  unsealText,
} from './keys.ts';
export {
  append,
  appendProblem,
  type Loaded,
  type LockedLog,
  type Log,
  type LostEvent,
  type NewEvents,
  openLog,
  recordRestore,
  type Subjects,
} from './log.ts';
export {
  endWithoutPost,
  type PostCalls,
  type PostName,
  type PostOutcome,
  postAtMostOnce,
} from './posts.ts';
export type { LogCheck } from './upkeep.ts';
export { type ChangeQuery, countChanges, lastSent, requestedCommands } from './views.ts';
