export {
  type Config,
  type ConfigLoad,
  type ConfigProblem,
  channelUses,
  fixedUntilRestart,
  formatProblems,
  loadConfig,
} from './config.ts';
export { refuseUnusable } from './inspect.ts';
export { createMetrics, type Metrics, type Readings, readGauges } from './telemetry.ts';
