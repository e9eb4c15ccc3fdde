import {
  addMonths,
  formatDay,
  formatDays,
  formatSpan,
  quarterOf,
  type Span,
  startOf,
} from '../base/calendar.ts';
import { quoted } from '../base/problem.ts';
import { addDays, type Day, dayOf } from '../base/time.ts';
import { type Answer, type AnswerPart, type Caller, countWords } from '../domain/answer.ts';
import type { Service } from '../domain/targets.ts';
import { type DayState, dayStates, statesWithin } from '../maths/days.ts';
import { type Forecast, forecastMoney, forecastSpan, LONGEST_HORIZON } from '../maths/forecast.ts';
import { seriesFrom } from '../maths/lines.ts';
import {
  type Money,
  moneyDifference,
  moneyOf,
  moneyOver,
  type PriceList,
  roughMoneyText,
} from '../maths/money.ts';
import { bracketed, creditsText, shareText } from '../maths/numbers.ts';
import { similarWords } from '../maths/period.ts';
import {
  type CostQuestion,
  type QuestionScope,
  readQuestion,
  wordsOfScope,
} from '../maths/question.ts';
import { type CostGap, type CostReading, unreadMonths } from '../maths/report.ts';
import { type CostRow, type DayValue, microOf } from '../maths/rows.ts';
import { LEAST_DAYS, SETTLED_HISTORY_DAYS } from '../maths/statistics.ts';
import {
  type CostContext,
  costOffer,
  questionNames,
  readCostQuestion,
  readQuestionCosts,
  scopedRows,
  unclearAnswer,
} from './question.ts';
import { scopeNotes } from './scope.ts';
import { dayCountsOf, footerPart, noDataAnswer, roundedCredits } from './standing.ts';

const UNITS = ['month', 'quarter', 'year'] as const;
type ForecastUnit = (typeof UNITS)[number];

const WORDS: ReadonlyMap<string, ForecastUnit> = new Map([
  ...UNITS.flatMap((unit) => [[unit, unit] as const, [`this-${unit}`, unit] as const]),
  ['mtd', 'month'],
  ['qtd', 'quarter'],
  ['ytd', 'year'],
]);

type ForecastReading =
  | { readonly ok: true; readonly unit: ForecastUnit; readonly question: CostQuestion }
  | { readonly ok: false; readonly answer: Answer };

/**
 * Reads `month`, `quarter` or `year`, a scope and `refresh`, in any order. Default: the month, all
 * costs.
 */
export function readForecastQuestion(
  words: string,
  today: Day,
  services: readonly Service[],
): ForecastReading {
  const typed = words.split(/\s+/).filter((word) => word !== '');
  const units = typed.flatMap((word) => WORDS.get(word.toLowerCase()) ?? []);
  const rest = typed.filter((word) => !WORDS.has(word.toLowerCase()));
  if (new Set(units).size > 1) return refused(`${quoted(units.join(' '))}: choose one.`, rest);
  const [unit = 'month'] = units;
  const reading = readQuestion(rest, today, questionNames(services));
  if (reading.ok && isScopeOnly(reading.question, today, services)) {
    return { ok: true, unit, question: reading.question };
  }
  const near = similarWords(rest[0] ?? '', UNITS);
  if (!reading.ok && reading.problem !== 'unknown-words' && near.length === 0) {
    const typedWords = { command: 'cost forecast', words: rest.join(' ') } as const;
    const misread = readCostQuestion(typedWords, today, services);
    if (!misread.ok) return misread;
  }
  const scopes = reading.ok ? [] : reading.nearest.filter((form) => isScope(form, today, services));
  const text = `${quoted(rest.join(' '))} is not understood here. Use month, quarter or year, and a service, tag, warehouse or team.`;
  const found = [...near, ...scopes];
  return refused(text, [], found.length > 0 ? found : UNITS);
}

/** The same question, without `refresh`. */
function forecastWords(unit: ForecastUnit, scope: QuestionScope): string {
  return [unit, ...wordsOfScope(scope)].join(' ');
}

function refused(
  text: string,
  scope: readonly string[],
  forms: readonly string[] = UNITS,
): ForecastReading {
  const offers = forms.map((form) => costOffer(['cost forecast', form, ...scope].join(' ')));
  return { ok: false, answer: unclearAnswer(`${text} For example:`, offers) };
}

function isScope(form: string, today: Day, services: readonly Service[]): boolean {
  const reading = readQuestion(form.split(' '), today, questionNames(services));
  return reading.ok && isScopeOnly(reading.question, today, services);
}

/** Whether the words have no period, grouping or comparison: a forecast takes none. */
function isScopeOnly(
  { scope: _, refresh: __, ...rest }: CostQuestion,
  today: Day,
  services: readonly Service[],
): boolean {
  const plain = readQuestion([], today, questionNames(services));
  if (!plain.ok) return false;
  const { scope: ___, refresh: ____, ...usual } = plain.question;
  return JSON.stringify(rest) === JSON.stringify(usual);
}

interface ForecastDays {
  readonly span: Span;
  readonly today: Day;
}

/** The forecast of these rows; `all` shows which days have a report. */
function forecastOfRows(
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

function forecastSpanOf(unit: ForecastUnit, today: Day): Span {
  const first = startOf(unit, today);
  return { first, last: addDays(addMonths(first, MONTHS[unit]), -1) };
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
  const text = `heading for ${roundedCredits(total)} credits (${roundedCredits(low)}–${roundedCredits(high)})`;
  const ends = money.range.flatMap((end) => (end ? [roughMoneyText(end)] : []));
  return money.total ? `${text} · ${roughMoneyText(money.total)} (${ends.join('–')})` : text;
}

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
  const span = forecastSpanOf(unit, today);
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
  const known = forecastOfRows(rows, read, { span, today });
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

function nameOf(unit: ForecastUnit, span: Span, today: Day): string {
  if (unit !== 'quarter') return formatSpan(span, today);
  return `Q${quarterOf(span.first)} ${span.first.slice(0, 4)}`;
}

function assumptionText(
  { basis: { level, days, shifted } }: KnownForecast,
  { perDay }: ForecastMoney,
): string {
  const since = shifted ? ', since the level changed' : '';
  const average = `${withMoney(level, perDay)} per day`;
  return `About 80% sure, if usage stays as in the last ${days} settled days${since}: ${average}, adjusted for weekdays. ${SETTLED}`;
}

const SETTLED = 'A day is settled when it is final or unchanged for 2 days.';

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
  const missing = own.filter(({ state }) => state === 'no-data').map(({ day }) => day);
  const days = `${counts.preliminaryDays} of ${countWords(counts.days, 'day')} not final`;
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
  return `${roundedCredits(credits)} credits${bracketed(money && roughMoneyText(money))}`;
}

function unreportedText({ first }: Span, begin: Day, today: Day): string {
  const before = formatSpan({ first, last: addDays(begin, -1) }, today);
  return `${before}, before the first report`;
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
function monthForecastDays(today: Day): Span {
  return withHistory(forecastSpanOf('month', today), today);
}

/** Null without any copy of a month: with a part of the history, it would be another forecast. */
function monthForecastOf(
  read: CostReading,
  select: (rows: readonly CostRow[]) => readonly CostRow[],
  today: Day,
): MonthForecast | null {
  if (unreadMonths(read).length > 0) return null;
  const span = forecastSpanOf('month', today);
  const { forecast, series } = forecastOfRows(select(read.rows), read, { span, today });
  if (!forecast.ok) return null;
  const prices = read.prices ?? null;
  const money = moneyOfForecast(forecast, { series, span, today, prices });
  const heading = headingText(forecast, money);
  const month = formatSpan(span, today);
  const inMoney = bracketed(money.total && roughMoneyText(money.total));
  return {
    title: `forecast ${roundedCredits(forecast.total)}${inMoney}`,
    text: `${month} is ${heading}, about 80% sure, if usage does not change.`,
    gaps: read.gaps,
  };
}

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
