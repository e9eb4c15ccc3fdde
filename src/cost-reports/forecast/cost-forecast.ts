import { addMonths, quarterOf, type Span, startOf } from '../../costs/calendar/calendar.ts';
import { addDays, type Day, dayOf } from '../../costs/calendar/day.ts';
import { formatDays, formatSpan } from '../../costs/calendar/format.ts';
import { dayCountsOf } from '../../costs/comparison/day-counts.ts';
import { type Forecast, forecastSpan } from '../../costs/forecast/forecast.ts';
import { LONGEST_HORIZON } from '../../costs/forecast/forecast-error.ts';
import { forecastMoney } from '../../costs/forecast/forecast-money.ts';
import { LEAST_DAYS, SETTLED_HISTORY_DAYS } from '../../costs/forecast/series.ts';
import { type CostGap, type CostReading, unreadMonths } from '../../costs/ledger/costs-read.ts';
import { type DayState, dayStates, isSettledDay, statesWithin } from '../../costs/ledger/ledger.ts';
import { bracketed, creditsText, roundedFigure, shareText } from '../../costs/ledger/numbers.ts';
import { type CostRow, type DayValue, microOf } from '../../costs/ledger/row.ts';
import { seriesFrom } from '../../costs/ledger/series-of-rows.ts';
import { type Money, moneyDifference, moneyOver } from '../../costs/money/money.ts';
import { roughMoneyText } from '../../costs/money/money-text.ts';
import type { PriceList } from '../../costs/money/price.ts';
import type { QuestionScope } from '../../costs/question/question.ts';
import type { Answer, AnswerPart } from '../../intent/answers/answer.ts';
import { countWords } from '../../intent/answers/texts.ts';
import type { Caller } from '../../intent/ports/command-context.ts';
import { type CostContext, readQuestionCosts } from '../question/cost-question.ts';
import {
  type ForecastUnit,
  forecastWords,
  readForecastQuestion,
} from '../question/forecast-question.ts';
import { scopedRows } from '../question/scoped-rows.ts';
import { scopeNotes } from '../scope.ts';
import { footerPart, noDataAnswer } from '../summary.ts';

/** The answer of `/cost forecast` to the typed words. */
export async function answerForecast(
  words: string,
  context: CostContext,
  asker: Pick<Caller, 'by'>,
): Promise<Answer> {
  const today = dayOf(context.now());
  const asked = readForecastQuestion(words, today, context.services);
  if (!asked.ok) return asked.answer;
  const { unit, question } = asked;
  const span = spanOf(unit, today);
  const typed = { command: 'cost forecast', words } as const;
  const costs = await readQuestionCosts(question, withHistory(span, today), {
    context,
    asker,
    typed,
  });
  if (!costs.ok) return costs.answer;
  const { read } = costs;
  const lineFor = (other: QuestionScope) => `cost forecast ${forecastWords(unit, other)}`;
  const scoped = scopedRows({ question, lineFor }, read.rows, context.services);
  if (!scoped.ok) return scoped.answer;
  const { scope, rows } = scoped;
  const label = [...(scope.label ? [scope.label] : []), nameOf(unit, span, today)].join(' · ');
  if (read.rows.length === 0) return noDataAnswer(label, read);
  const again = { label: 'Refresh', line: `${lineFor(question.scope)} refresh` };
  const closing: readonly AnswerPart[] = [
    { kind: 'offers', offers: [again] },
    footerPart(read, null, scopeNotes(scope)),
  ];
  const without = (text: string): Answer => ({
    title: `${label}: no forecast`,
    parts: [{ kind: 'text', text }, ...closing],
  });
  const unread = unreadMonths(read);
  if (unread.length > 0) return without(unreadText(unread));
  const known = forecastOf(rows, read, { span, today });
  if (!known.forecast.ok) return without(unavailableText(known.forecast));
  const { forecast, states, series } = known;
  const money = moneyOfForecast(forecast, { series, span, prices: read.prices ?? null, today });
  return {
    title: `${label}: ${headingText(forecast, money)}`,
    parts: [
      { kind: 'text', text: assumptionText(forecast, money) },
      factsPart(states, forecast, { span, today, money }),
      ...closing,
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

interface PricedForecast extends ForecastDays {
  readonly series: readonly DayValue[];
  readonly prices: PriceList | null;
}

/** The money of a forecast; null where a day has no price. */
interface ForecastMoney {
  readonly total: Money | null;
  readonly range: readonly (Money | null)[];
  /** Of an average day, at the current price. */
  readonly perDay: Money | null;
}

function moneyOfForecast(
  { total, low, high, basis }: KnownForecast,
  { series, span, prices, today }: PricedForecast,
): ForecastMoney {
  const of = (credits: number) => forecastMoney(credits, series, span, prices);
  return {
    total: of(total),
    range: [of(low), of(high)],
    perDay: moneyOver(microOf(basis.level), [today], prices),
  };
}

/** `heading for 8,074 credits (7,800–8,350)`, and in money with a price. */
function headingText({ total, low, high }: KnownForecast, money: ForecastMoney): string {
  const text = `heading for ${rounded(total)} credits (${rounded(low)}–${rounded(high)})`;
  const ends = money.range.flatMap((end) => (end ? [roughMoneyText(end)] : []));
  return money.total ? `${text} · ${roughMoneyText(money.total)} (${ends.join('–')})` : text;
}

function assumptionText(
  { basis: { level, days, shifted } }: KnownForecast,
  { perDay }: ForecastMoney,
): string {
  const since = shifted ? ', since the level changed' : '';
  const average = `${withMoney(level, perDay)} per day`;
  return `About 80% sure, if usage stays as in the last ${days} settled days${since}: ${average}, adjusted for weekdays.`;
}

function factsPart(
  states: readonly DayState[],
  { total, soFar, basis }: KnownForecast,
  { span, today, money }: ForecastDays & { readonly money: ForecastMoney },
): AnswerPart {
  // The forecast does not count the days before the first report.
  const first = states.find(({ state }) => state !== 'no-data')?.day ?? span.first;
  const begin = first > span.first ? first : span.first;
  const own = states.filter(({ day }) => day >= begin && day < today);
  const counts = dayCountsOf(states, { first: span.first, last: today });
  const settled = own.filter(isSettledDay).length;
  const missing = own.filter(({ state }) => state === 'no-data').map(({ day }) => day);
  const days = `${settled} of ${countWords(own.length, 'day')} settled`;
  const rest = money.total && moneyDifference(money.total, counts.money ?? undefined);
  return {
    kind: 'facts',
    facts: [
      ['Reported so far', `${creditsText(counts.total, counts.money)} through today, ${days}`],
      ['Still expected', withMoney(total - soFar, rest)],
      ['Range', rangeText(basis)],
      ...(missing.length > 0
        ? [['No data', `${formatDays(missing, today)}; counted with the expected cost`] as const]
        : []),
      ...(begin > span.first ? [['Not counted', unreportedText(span, begin, today)] as const] : []),
    ],
  };
}

/** What the range of the title is computed from. */
function rangeText({ error, isMeasured, openDays }: KnownForecast['basis']): string {
  const days = countWords(openDays, 'day that is', 'days that are');
  const share = `±${shareText(error)} of the ${days} not settled`;
  if (!isMeasured) return `${share}: too few past days show the error of a forecast`;
  return openDays > LONGEST_HORIZON
    ? `${share}: errors of past forecasts over ${LONGEST_HORIZON} days, extended to ${openDays} days`
    : `${share}: errors of past forecasts`;
}

/** `2,433 credits`, or `2,433 credits (€852)` */
function withMoney(credits: number, money: Money | null): string {
  return `${rounded(credits)} credits${bracketed(money && roughMoneyText(money))}`;
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

function unreadText(months: readonly string[]): string {
  return `${countWords(months.length, 'month')} could not be read: ${months.join(', ')}. A forecast needs all of its months.`;
}

/** Whether these are the days of the current month so far, with or without today. */
export function isMonthSoFar({ first, last }: Span, today: Day): boolean {
  return first === startOf('month', today) && last >= addDays(today, -1);
}

interface MonthForecast {
  /** `forecast 8,074`, or `forecast 8,074 (€2,826)` */
  readonly title: string;
  /** One sentence with the range. */
  readonly text: string;
  /** The months of which it uses an older copy. */
  readonly gaps: readonly CostGap[];
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

/** Null without any copy of a month: with a part of the history, it would be another forecast. */
export function monthForecastOf(
  read: CostReading,
  select: (rows: readonly CostRow[]) => readonly CostRow[],
  today: Day,
): MonthForecast | null {
  if (unreadMonths(read).length > 0) return null;
  const span = spanOf('month', today);
  const { forecast, series } = forecastOf(select(read.rows), read, { span, today });
  if (!forecast.ok) return null;
  const prices = read.prices ?? null;
  const money = moneyOfForecast(forecast, { series, span, today, prices });
  const heading = headingText(forecast, money);
  const month = formatSpan(span, today);
  const inMoney = bracketed(money.total && roughMoneyText(money.total));
  return {
    title: `forecast ${rounded(forecast.total)}${inMoney}`,
    text: `${month} is ${heading}, about 80% sure, if usage does not change.`,
    gaps: read.gaps,
  };
}
