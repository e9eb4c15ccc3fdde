import { addMonths, type Span, startOf } from '../costs/calendar/calendar.ts';
import { addDays, type Day } from '../costs/calendar/day.ts';
import { daysLabel, spanLabel } from '../costs/calendar/span-label.ts';
import { monthToDate } from '../costs/comparison/comparison.ts';
import { dayCountsOf } from '../costs/comparison/standing.ts';
import { forecastMonth } from '../costs/forecast/forecast.ts';
import type { DayState } from '../costs/ledger/ledger.ts';
import { changeText, creditsText, figure, signedFigure } from '../costs/ledger/numbers.ts';
import { type DayValue, microOf } from '../costs/ledger/row.ts';
import { countWords } from '../intent/answers/texts.ts';
import { pairedDaysText } from './compare-periods.ts';

type Fact = readonly [string, string];

/** The month to date, the forecast of the month, and the days that are not final. */
export function keyFigures(
  series: readonly DayValue[],
  states: readonly DayState[],
  { today, covers }: { readonly today: Day; readonly covers: Span },
): readonly Fact[] {
  return [
    ['Month to date', monthText(series, states, covers.last)],
    ['Forecast', forecastText(series, today)],
    ...openDays(states, today),
  ];
}

function monthText(series: readonly DayValue[], states: readonly DayState[], last: Day): string {
  const first = startOf('month', last);
  const { total, preliminaryDays, missing, days } = dayCountsOf(states, { first, last });
  if (missing.length === days) return 'no data yet';
  const open = preliminaryDays > 0 ? ' so far' : '';
  const count = countWords(missing.length, 'day');
  const none = missing.length > 0 ? `, ${count} without data` : '';
  return `${creditsText(total)}${open}${none}${againstLastMonth(series, last)}`;
}

function againstLastMonth(series: readonly DayValue[], last: Day): string {
  const { through, comparison } = monthToDate(series, last);
  if (through === null || !comparison.ok) return '';
  const { delta, relative, before, now } = comparison;
  const month = { first: startOf('month', through), last: through };
  const was = { first: addMonths(month.first, -1), last: addMonths(through, -1) };
  const change = relative === null ? signedFigure(delta) : changeText(relative);
  const days = `${spanLabel(month, last)}${pairedDaysText(comparison.days, month, was)}`;
  return ` · ${days}: ${figure(now)}, ${change} vs ${spanLabel(was, last)} (${figure(before)})`;
}

function forecastText(series: readonly DayValue[], today: Day): string {
  const forecast = forecastMonth(series, today);
  if (!forecast.ok) {
    return forecast.why === 'too-few-final-days'
      ? 'not available: too few final days'
      : 'not available: the last final day is too long ago';
  }
  const [total, low, high] = [forecast.total, forecast.low, forecast.high].map((credits) =>
    figure(microOf(Math.round(credits))).replace(/\.0$/, ''),
  );
  const month = spanLabel(monthOf(today), today);
  return `${month} about ${total} (${low}–${high}, about 80% sure) if usage does not change`;
}

function monthOf(today: Day): Span {
  const first = startOf('month', today);
  return { first, last: addDays(addMonths(first, 1), -1) };
}

const RECENT_DAYS = 14;

function openDays(states: readonly DayState[], today: Day): readonly Fact[] {
  const recent = states.filter(({ day }) => day < today && day >= addDays(today, -RECENT_DAYS));
  const open = recent.filter(({ state }) => state === 'preliminary');
  const none = recent.filter(({ state }) => state === 'no-data');
  const sum = open.reduce((all, { total }) => all + total, 0);
  const openText = `${daysLabel(daysOf(open), today)}: ${creditsText(sum)} so far`;
  return [
    ...(open.length > 0 ? [['Not final', openText] as const] : []),
    ...(none.length > 0 ? [['No data', daysLabel(daysOf(none), today)] as const] : []),
  ];
}

function daysOf(states: readonly DayState[]): readonly Day[] {
  return states.map(({ day }) => day);
}
