import type { Measures } from '../../src/base/log.ts';

const ignore = () => undefined;

/** Counts nothing. */
export const ignoredMeasures: Measures = {
  answered: ignore,
  moved: ignore,
  refused: ignore,
  acknowledged: ignore,
  shown: ignore,
  sent: ignore,
  called: ignore,
  slackCalled: ignore,
  foreignConnections: ignore,
  deliveryRefused: ignore,
  alertDelivered: ignore,
  agentCalled: ignore,
  lookupFailed: ignore,
  messageLost: ignore,
  permitReturned: ignore,
};
