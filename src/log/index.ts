export { Damaged, WentBack } from './chain.ts';
export { evidenceOf, exportLog } from './evidence.ts';
export {
  type ActiveConfiguration,
  activateConfiguration,
  activeConfiguration,
  freezesInForce,
  recordIds,
  schedulesInForce,
} from './installation.ts';
export {
  KeyProblem,
  type LogKeys,
  publicKeyPem,
  readKeys,
  sealText,
  unsealText,
} from './keys.ts';
export {
  append,
  appendProblem,
  follow,
  type Loaded,
  type LockedLog,
  type Log,
  type LostEvent,
  type NewEvents,
  openLog,
  recordRestore,
  type Subjects,
} from './log.ts';
export { type PostCalls, type PostName, type PostOutcome, postAtMostOnce } from './posts.ts';
export {
  type ClosedLog,
  closeChapter,
  type LogCheck,
  prune,
  rebuild,
  verifyAll,
} from './upkeep.ts';
export { type ChangeQuery, type ListedChange, queryChanges } from './views.ts';
