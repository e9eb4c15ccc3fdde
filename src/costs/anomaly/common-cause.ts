import type { AnomalyVerdict, Direction } from './anomaly.ts';

const SHARE = 0.4;
/** Two lines of three are no crowd. */
const LEAST_LINES = 5;

/**
 * The direction in which more than 40% of the tested lines are unusual on one day: a holiday, a
 * price or the data is behind that, and one message says so instead of one for each line.
 * Source: docs/costs.md#common-cause.
 */
export function commonCause(verdicts: readonly AnomalyVerdict[]): Direction | null {
  const tested = verdicts.filter(({ kind }) => kind === 'usual' || kind === 'unusual');
  if (tested.length < LEAST_LINES) return null;
  const count = (direction: Direction) =>
    tested.filter((verdict) => verdict.kind === 'unusual' && verdict.direction === direction)
      .length;
  const isCrowd = (direction: Direction) => count(direction) > SHARE * tested.length;
  return (['up', 'down'] as const).find(isCrowd) ?? null;
}
