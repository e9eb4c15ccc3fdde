export { type AlertDoor, type AlertIntake, createAlertDoor } from './alert-door.ts';
export {
  type Config,
  type ConfigLoad,
  channelUses,
  fixedUntilRestart,
  formatProblems,
  loadConfig,
} from './config.ts';
export { readConfigFile } from './config-file.ts';
export { FROM_FILES, VARIABLE_NAMES, Variables } from './environment.ts';
export { refuseUnusable } from './inspect.ts';
export { openRecorder } from './record.ts';
export { proveWritable } from './store.ts';
export {
  createMetrics,
  type Metrics,
  type Readings,
  readGauges,
  startTraces,
} from './telemetry.ts';
