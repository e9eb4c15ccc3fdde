export { answerCosts, answerCsv } from './answer.ts';
export { listBudgets } from './budget-answer.ts';
export { type DigestContext, findAttention } from './digest-data.ts';
export {
  budgetSchema,
  Costs,
  Days,
  DIGEST_ACTIONS,
  type DigestService,
  daysNear,
  digestReader,
  digestSchema,
  loadSubscriptions,
  TimeOfDaySchema,
  TimeZone,
  timesNear,
  zonesNear,
} from './digest-options.ts';
export { createDigestRun } from './digest-schedule.ts';
export { createCostEstimator } from './estimate.ts';
export { answerForecast, homeCosts } from './forecast-answer.ts';
export { createIncidentService, listAnomalies } from './incident-answers.ts';
export { createEffectMeasurement } from './measured-effect.ts';
export type { CostContext } from './question-scope.ts';
export { createCostReader, learnFromUsage, openUsageDates } from './reader.ts';
export { type CostSnapshot, costSnapshots, pruneCosts } from './store.ts';
export { createDigestService } from './subscriptions.ts';
export { type AnomalyContext, createAnomalyWatch } from './watch.ts';
export {
  type AcceptedChange,
  type AcceptedChangeFilter,
  answerWhy,
  listCostChanges,
} from './why.ts';
