import type { Span } from '../../base/calendar.ts';
import { formatDay } from '../../base/calendar.ts';
import { addDays, dayOf } from '../../base/time.ts';
import { dayStates } from '../../maths/days.ts';
import { moneyOf } from '../../maths/money.ts';
import { creditsText } from '../../maths/numbers.ts';
import type { CostReading } from '../../maths/report.ts';
import { monthForecastDays, monthForecastOf } from './month-forecast.ts';

/** What App Home shows about costs. */
interface HomeCosts {
  /** `Sun 22 Nov: 317 credits, not final` */
  readonly title: string;
  readonly lines: readonly string[];
  /** When the report was read. */
  readonly asOf: Date;
}

/**
 * Yesterday and the forecast of the month. `stored` reads the stored report only, so that an opened
 * Home tab never waits for the API. Null if the report was not read yet.
 */
export async function homeCosts(
  stored: (span: Span) => Promise<CostReading>,
  now: Date,
): Promise<HomeCosts | null> {
  const today = dayOf(now);
  const read = await stored(monthForecastDays(today));
  const yesterday = addDays(today, -1);
  const [state] = dayStates(read.rows, { first: yesterday, last: yesterday });
  if (read.fetchedAt === null || !state || state.state === 'no-data') return null;
  const { day, total, price } = state;
  const isFinal = state.state === 'final';
  const forecast = monthForecastOf(read, (rows) => rows, today);
  const cost = creditsText(total, moneyOf([[price, total]]));
  return {
    title: `${formatDay(day)}: ${cost}${isFinal ? '' : ', not final'}`,
    lines: ['Days are in UTC.', ...(forecast ? [forecast.text] : [])],
    asOf: read.fetchedAt,
  };
}
