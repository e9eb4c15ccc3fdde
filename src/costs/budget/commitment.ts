import { addMonths, lengthOf, type Span } from '../calendar/calendar.ts';
import { addDays, type Day } from '../calendar/day.ts';
import type { Forecast } from '../forecast/forecast.ts';
import type { SpendPoint } from '../forecast/spend-path.ts';
import type { DayValue } from '../ledger/row.ts';
import { isSettled } from '../locking/open-day.ts';

const MONTHS = 12;

/**
 * The year of a commitment that contains the day, or its first year if it begins later. Each year
 * begins on the anniversary of the start; that of 29 February is 28 February in other years.
 */
export function commitmentYear(start: Day, day: Day): Span {
  const years = Math.max(0, Number(day.slice(0, 4)) - Number(start.slice(0, 4)));
  const isBefore = years > 0 && addMonths(start, MONTHS * years) > day;
  const months = MONTHS * (isBefore ? years - 1 : years);
  return { first: addMonths(start, months), last: addDays(addMonths(start, months + MONTHS), -1) };
}

/** When the credits of a commitment are used up. */
export type CommitmentEnd =
  | { readonly state: 'not-begun' }
  /** Without a forecast. */
  | { readonly state: 'unknown' }
  | { readonly state: 'used-up'; readonly day: Day }
  /** `latest` is null if it may last longer than the year. */
  | {
      readonly state: 'before-end';
      readonly day: Day;
      readonly earliest: Day;
      readonly latest: Day | null;
    }
  /** `earliest` is null if even the upper bound of the forecast lasts for the year. */
  | { readonly state: 'lasts'; readonly left: number; readonly earliest: Day | null };

/** How a commitment is used, next to how much of its year is over. */
export interface CommitmentPace {
  readonly days: number;
  /** The complete days, through yesterday. */
  readonly elapsed: number;
  /** Credits of an average day, as the forecast expects them; null without a forecast. */
  readonly burnRate: number | null;
  /** Credits per day that would use the rest on the last day; null if no day is left. */
  readonly allowance: number | null;
  readonly end: CommitmentEnd;
}

interface CommitmentInputs {
  readonly amount: number;
  readonly year: Span;
  readonly today: Day;
  /** The reported days of the year. */
  readonly series: readonly DayValue[];
  readonly forecast: Forecast;
  readonly path: readonly SpendPoint[];
}

/** Source: docs/costs.md#commitments. */
export function commitmentPace(inputs: CommitmentInputs): CommitmentPace {
  const { amount, year, today, series, forecast } = inputs;
  const days = lengthOf(year);
  const settled = series.filter(isSettled);
  const rest = amount - settled.reduce((sum, { value }) => sum + value, 0);
  const open = days - settled.length;
  return {
    days,
    elapsed: lengthOf({ first: year.first, last: addDays(today, -1) }),
    burnRate: forecast.ok ? forecast.basis.level : null,
    allowance: open > 0 ? Math.max(0, rest / open) : null,
    end: endOf(inputs),
  };
}

function endOf({ amount, year, today, series, path }: CommitmentInputs): CommitmentEnd {
  if (today < year.first) return { state: 'not-begun' };
  const usedUp = dayUsedUp(series, amount);
  if (usedUp !== null) return { state: 'used-up', day: usedUp };
  const last = path.at(-1);
  if (!last) return { state: 'unknown' };
  const reached = (bound: 'total' | 'low' | 'high') =>
    path.find((point) => point[bound] >= amount)?.day ?? null;
  const [day, earliest, latest] = [reached('total'), reached('high'), reached('low')];
  if (day === null) return { state: 'lasts', left: amount - last.total, earliest };
  return { state: 'before-end', day, earliest: earliest ?? day, latest };
}

/** The first day with which the reported credits reach the amount; null if refunds took them below it. */
function dayUsedUp(series: readonly DayValue[], amount: number): Day | null {
  let total = 0;
  const sums = series.map(({ day, value }) => {
    total += value;
    return { day, total };
  });
  return total < amount ? null : (sums.find((sum) => sum.total >= amount)?.day ?? null);
}
