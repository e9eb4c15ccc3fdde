export { sql } from 'kysely';
export { followClock, type SharedClock } from './clock.ts';
export {
  lockedTransaction,
  openStore,
  reading,
  refuseOtherFile,
  type Store,
  type StoreOptions,
  type StoreReader,
  type StoreTx,
  transaction,
} from './database.ts';
export { databaseProblem } from './errors.ts';
export {
  addJobs,
  type ClaimedJob,
  claimJobs,
  endJob,
  type Job,
  releaseJobs,
  renewJob,
  retryJob,
} from './jobs.ts';
export {
  addToRateCounters,
  dropInstance,
  type Instance,
  listInstances,
  openRequestBudget,
  pruneRateCounters,
  saveInstance,
  subtractFromRateCounter,
} from './limits.ts';
export { standbyProblem } from './postgres.ts';
export {
  dropEventGuards,
  type Engine,
  readSchema,
  renewEventTable,
  type SchemaState,
} from './schema.ts';
export type { AlertReportTable, KnownServiceTable } from './tables.ts';
