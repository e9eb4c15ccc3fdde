import type { Day } from '../../base/time.ts';
import type { DayPrice } from '../money/price.ts';
import type { DayState } from './ledger.ts';
import type { Micro } from './row.ts';

/** The cost of a day in a posted digest. */
export interface PostedDay {
  readonly day: Day;
  readonly total: Micro;
}

interface Revision {
  readonly day: Day;
  readonly price: DayPrice | undefined;
  readonly posted: Micro;
  readonly final: Micro;
  readonly delta: Micro;
  /** `delta / posted`; null if the posted cost was 0. */
  readonly relative: number | null;
}

const LEAST_CHANGE = 0.05;

/**
 * Final days whose cost differs from the posted one, the earliest first:
 * `|final − posted| > max(5% of posted, minimum)`, all in millionths of a credit. Of several posted
 * values of a day, the last one counts. Source: docs/costs.md#revisions.
 */
export function revisions(
  posted: readonly PostedDay[],
  states: readonly DayState[],
  minimum: Micro,
): readonly Revision[] {
  const values = new Map(posted.map(({ day, total }) => [day, total]));
  return states.flatMap((state) => {
    const before = values.get(state.day);
    if (before === undefined || state.state !== 'final') return [];
    const revision = revisionOf(state, before);
    const limit = Math.max(LEAST_CHANGE * Math.abs(before), minimum);
    return Math.abs(revision.delta) > limit ? [revision] : [];
  });
}

function revisionOf({ day, price, total }: DayState, posted: Micro): Revision {
  const delta = total - posted;
  return { day, price, posted, final: total, delta, relative: posted > 0 ? delta / posted : null };
}
