import type { AnomalyVerdict, Direction } from './anomaly.ts';

const SHARE = 0.4;
/** With fewer lines, 40% of them are too few. */
const LEAST_LINES = 5;

/**
 * The direction in which more than 40% of the tested lines are unusual on one day. The cause is
 * probably a holiday, a price or wrong data, so one message replaces one for each line.
 * Source: docs/costs.md#common-cause.
 */
export function commonCause(verdicts: readonly AnomalyVerdict[]): Direction | null {
  const tested = verdicts.filter(({ kind }) => kind === 'usual' || kind === 'unusual');
  if (tested.length < LEAST_LINES) return null;
  const count = (direction: Direction) =>
    tested.filter((verdict) => verdict.kind === 'unusual' && verdict.direction === direction)
      .length;
  const isCommon = (direction: Direction) => count(direction) > SHARE * tested.length;
  return (['up', 'down'] as const).find(isCommon) ?? null;
}
