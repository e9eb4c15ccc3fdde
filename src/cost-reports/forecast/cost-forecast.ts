import { addMonths, quarterOf, type Span, startOf } from '../../costs/calendar/calendar.ts';
import { addDays, type Day, dayOf } from '../../costs/calendar/day.ts';
import { formatDays, formatSpan } from '../../costs/calendar/format.ts';
import { dayCountsOf } from '../../costs/comparison/day-counts.ts';
import { type Forecast, forecastSpan } from '../../costs/forecast/forecast.ts';
import { forecastMoney } from '../../costs/forecast/forecast-money.ts';
import { LEAST_DAYS, SETTLED_HISTORY_DAYS } from '../../costs/forecast/series.ts';
import type { CostReading } from '../../costs/ledger/costs-read.ts';
import { type DayState, dayStates, isSettledDay, statesWithin } from '../../costs/ledger/ledger.ts';
import { creditsText, roundedFigure } from '../../costs/ledger/numbers.ts';
import type { CostRow, DayValue } from '../../costs/ledger/row.ts';
import { seriesFrom } from '../../costs/ledger/series-of-rows.ts';
import { roughMoneyText } from '../../costs/money/money-text.ts';
import type { Answer, AnswerPart } from '../../intent/answers/answer.ts';
import { countWords } from '../../intent/answers/texts.ts';
import type { CostContext } from '../question/cost-question.ts';
import { type ForecastUnit, readForecastQuestion } from '../question/forecast-question.ts';
import { scopedRows } from '../question/scoped-rows.ts';
import { scopeNotes } from '../scope.ts';
import { footerPart, noDataAnswer } from '../summary.ts';

/** The answer of `/cost forecast` to the typed words. */
export async function answerForecast(words: string, context: CostContext): Promise<Answer> {
  const today = dayOf(context.now());
  const asked = readForecastQuestion(words, today, context.services);
  if (!asked.ok) return asked.answer;
  const { unit, question } = asked;
  const span = spanOf(unit, today);
  const read = await context.costs(withHistory(span, today));
  const scoped = scopedRows({ command: 'cost forecast', question }, read.rows, context.services);
  if (!scoped.ok) return scoped.answer;
  const { scope, rows } = scoped;
  const label = [...(scope.label ? [scope.label] : []), nameOf(unit, span, today)].join(' · ');
  if (read.rows.length === 0) return noDataAnswer(label, read);
  const known = forecastOf(rows, read, { span, today });
  const footer = footerPart(read, null, scopeNotes(scope));
  if (!known.forecast.ok) {
    const text = unavailableText(known.forecast);
    return { title: `${label}: no forecast`, parts: [{ kind: 'text', text }, footer] };
  }
  const { forecast, states, series } = known;
  return {
    title: `${label}: ${headingText(forecast, { series, span, read })}`,
    parts: [
      { kind: 'text', text: assumptionText(forecast) },
      factsPart(states, forecast, { span, today }),
      footer,
    ],
  };
}

interface ForecastDays {
  readonly span: Span;
  readonly today: Day;
}

function forecastOf(
  rows: readonly CostRow[],
  { rows: all, lockAge }: CostReading,
  { span, today }: ForecastDays,
) {
  const days = withHistory(span, today);
  const states = statesWithin(dayStates(all, days), rows);
  const series = seriesFrom(states);
  return { states, series, forecast: forecastSpan(series, span, today, lockAge) };
}

/** The days whose rows a forecast needs: ten weeks of history, and the span up to today. */
function withHistory({ first }: Span, today: Day): Span {
  const history = addDays(today, -SETTLED_HISTORY_DAYS);
  return { first: history < first ? history : first, last: today };
}

const MONTHS: Readonly<Record<ForecastUnit, number>> = { month: 1, quarter: 3, year: 12 };

function spanOf(unit: ForecastUnit, today: Day): Span {
  const first = startOf(unit, today);
  return { first, last: addDays(addMonths(first, MONTHS[unit]), -1) };
}

function nameOf(unit: ForecastUnit, span: Span, today: Day): string {
  if (unit !== 'quarter') return formatSpan(span, today);
  return `Q${quarterOf(span.first)} ${span.first.slice(0, 4)}`;
}

type KnownForecast = Forecast & { ok: true };

interface ForecastPrices {
  readonly series: readonly DayValue[];
  readonly span: Span;
  readonly read: CostReading;
}

/** `heading for 8,074 credits (7,800–8,350)`, and in money with a price. */
function headingText(
  { total, low, high }: KnownForecast,
  { series, span, read }: ForecastPrices,
): string {
  const range = `${rounded(low)}–${rounded(high)}`;
  const text = `heading for ${rounded(total)} credits (${range})`;
  const money = [total, low, high].map((end) =>
    forecastMoney(end, series, span, read.prices ?? null),
  );
  const [inMoney, from, to] = money.flatMap((end) => (end ? [roughMoneyText(end)] : []));
  return inMoney ? `${text} · ${inMoney} (${from}–${to})` : text;
}

function assumptionText({ basis: { level, days, shifted } }: KnownForecast): string {
  const since = shifted ? ', since the level changed' : '';
  const perDay = `${rounded(level)} credits per day`;
  return `About 80% sure, if usage stays as in the last ${days} settled days${since}: ${perDay}, adjusted for weekdays.`;
}

function factsPart(
  states: readonly DayState[],
  { total, soFar }: KnownForecast,
  { span, today }: ForecastDays,
): AnswerPart {
  // The forecast does not count the days before the first report.
  const first = states.find(({ state }) => state !== 'no-data')?.day ?? span.first;
  const begin = first > span.first ? first : span.first;
  const own = states.filter(({ day }) => day >= begin && day < today);
  const counts = dayCountsOf(states, { first: span.first, last: today });
  const settled = own.filter(isSettledDay).length;
  const missing = own.filter(({ state }) => state === 'no-data').map(({ day }) => day);
  const days = `${settled} of ${countWords(own.length, 'day')} settled`;
  return {
    kind: 'facts',
    facts: [
      ['Reported so far', `${creditsText(counts.total, counts.money)}, ${days}`],
      ['Still expected', `${rounded(total - soFar)} credits`],
      ...(missing.length > 0
        ? [['No data', `${formatDays(missing, today)}; counted as usual days`] as const]
        : []),
      ...(begin > span.first ? [['Not counted', unreportedText(span, begin, today)] as const] : []),
    ],
  };
}

function unreportedText({ first }: Span, begin: Day, today: Day): string {
  const before = formatSpan({ first, last: addDays(begin, -1) }, today);
  return `${before}, before the first report`;
}

function rounded(credits: number): string {
  return roundedFigure(credits, Math.abs(credits) < 10);
}

function unavailableText({ why, settledDays }: Forecast & { ok: false }): string {
  return why === 'too-few-settled-days'
    ? `Only ${countWords(settledDays, 'day is', 'days are')} settled. A forecast needs ${LEAST_DAYS}.`
    : 'The last settled day is too long ago.';
}

interface MonthForecast {
  /** `forecast 8,074` */
  readonly title: string;
  /** One sentence with the range. */
  readonly text: string;
}

/** The forecast of the current month for `/cost mtd`; null if there is none. */
export async function monthForecast(
  context: Pick<CostContext, 'costs'>,
  select: (rows: readonly CostRow[]) => readonly CostRow[],
  today: Day,
): Promise<MonthForecast | null> {
  return monthForecastOf(await context.costs(monthForecastDays(today)), select, today);
}

/** The days whose rows the forecast of the current month needs. */
export function monthForecastDays(today: Day): Span {
  return withHistory(spanOf('month', today), today);
}

/** Null if a month could not be read: with a part of the history, it would be another forecast. */
export function monthForecastOf(
  read: CostReading,
  select: (rows: readonly CostRow[]) => readonly CostRow[],
  today: Day,
): MonthForecast | null {
  if (read.gaps.length > 0) return null;
  const span = spanOf('month', today);
  const { forecast, series } = forecastOf(select(read.rows), read, { span, today });
  if (!forecast.ok) return null;
  const heading = headingText(forecast, { series, span, read });
  const month = formatSpan(span, today);
  return {
    title: `forecast ${rounded(forecast.total)}`,
    text: `${month} is ${heading}, about 80% sure, if usage does not change.`,
  };
}
