import type { Day } from '../calendar/day.ts';
import type { DayState } from './ledger.ts';
import type { Micro } from './row.ts';

/** What a digest said of a day when it was posted. */
export interface PostedDay {
  readonly day: Day;
  readonly total: Micro;
}

export interface Revision {
  readonly day: Day;
  readonly posted: Micro;
  readonly final: Micro;
  readonly delta: Micro;
  /** `delta / posted`; null where nothing was posted of the day. */
  readonly relative: number | null;
  /** More than a fifth off: also told under the digest that said it. */
  readonly isLarge: boolean;
}

const WORTH_TELLING = 0.05;
const LARGE = 0.2;

/**
 * Days that turned out otherwise than posted, the earliest first, once they are final:
 * `|final − posted| > max(5% of posted, minimum)`, all in millionths of a credit. The same day
 * posted more than once counts as last posted. Source: docs/costs.md#revisions.
 */
export function revisions(
  posted: readonly PostedDay[],
  states: readonly DayState[],
  minimum: Micro,
): readonly Revision[] {
  const said = new Map(posted.map(({ day, total }) => [day, total]));
  return states.flatMap((state) => {
    const before = said.get(state.day);
    if (before === undefined || state.state !== 'final') return [];
    const revision = revisionOf(state, before);
    const limit = Math.max(WORTH_TELLING * Math.abs(before), minimum);
    return Math.abs(revision.delta) > limit ? [revision] : [];
  });
}

function revisionOf({ day, total }: DayState, posted: Micro): Revision {
  const delta = total - posted;
  const isLarge = Math.abs(delta) > LARGE * Math.abs(posted);
  return {
    day,
    posted,
    final: total,
    delta,
    relative: posted > 0 ? delta / posted : null,
    isLarge,
  };
}
