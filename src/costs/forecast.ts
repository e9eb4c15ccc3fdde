import {
  addMonths,
  formatDay,
  formatDays,
  formatMonthName,
  formatSpan,
  quarterOf,
  type Span,
  startOf,
} from '../base/calendar.ts';
import { quoted } from '../base/problem.ts';
import { addDays, type Day, dayOf } from '../base/time.ts';
import { type Answer, type AnswerPart, type Caller, countWords } from '../domain/answer.ts';
import type { Service } from '../domain/targets.ts';
import { usualRange } from '../maths/anomalies.ts';
import { type DayState, dayStates, statesWithin } from '../maths/days.ts';
import { type Forecast, forecastMoney, forecastSpan } from '../maths/forecast.ts';
import { seriesFrom } from '../maths/lines.ts';
import { type Money, moneyOf, roughMoneyText } from '../maths/money.ts';
import { bracketed, creditsText } from '../maths/numbers.ts';
import { similarWords } from '../maths/period.ts';
import {
  type CostQuestion,
  type QuestionScope,
  readQuestion,
  wordsOfScope,
} from '../maths/question.ts';
import type { CostGap, CostReading } from '../maths/report.ts';
import type { CostRow, DayValue } from '../maths/rows.ts';
import { MODEL_DAYS } from '../maths/statistics.ts';
import { missingText } from './budgets.ts';
import {
  type CostContext,
  costOffer,
  questionNames,
  readCostQuestion,
  readQuestionCosts,
  type SelectRows,
  scopedRows,
  unclearAnswer,
} from './question.ts';
import { scopeNotes } from './scope.ts';
import { share, shareOffer } from './share.ts';
import { dayCountsOf, footerPart, noDataAnswer, rangeText, roundedCredits } from './standing.ts';
import { isExplainedByChanges, judgeCosts } from './unusual.ts';

const UNITS = ['month', 'next-month', 'quarter', 'year'] as const;
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
 * Reads `month`, `next month`, `quarter` or `year`, a scope and `refresh`, in any order. Default: the
 * month, all costs.
 */
export function readForecastQuestion(
  words: string,
  today: Day,
  services: readonly Service[],
): ForecastReading {
  const next = formatMonthName(addMonths(today, 1)).toLowerCase();
  const typed = words
    .replace(/\b(next|this) +(?=month|quarter|year)/gi, '$1-')
    .split(/\s+/)
    .map((word) => (word.toLowerCase() === next ? 'next-month' : word));
  const given = typed.filter((word) => word !== '');
  const units = given.flatMap((word) => WORDS.get(word.toLowerCase()) ?? []);
  const rest = given.filter((word) => !WORDS.has(word.toLowerCase()));
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
  const text = `${quoted(rest.join(' '))} is not understood here. Use month, next-month, quarter or year, and a service, tag, warehouse or team.`;
  const found = [...near, ...scopes];
  return refused(text, [], found.length > 0 ? found : UNITS);
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
function isScopeOnly(question: CostQuestion, today: Day, services: readonly Service[]): boolean {
  const plain = readQuestion([], today, questionNames(services));
  const rest = ({ scope: _, refresh: __, share: ___, ...others }: CostQuestion) =>
    JSON.stringify(others);
  return plain.ok && rest(question) === rest(plain.question);
}

interface ForecastDays {
  readonly span: Span;
  readonly today: Day;
}

/** The forecast of the rows that are selected. */
function forecastOf(read: CostReading, select: SelectRows, { span, today }: ForecastDays) {
  const days = withHistory(span, today);
  const rows = select(read.rows);
  const states = statesWithin(dayStates(read.rows, days), rows);
  const series = seriesFrom(states);
  const isExplained = isExplainedByChanges({ ...read, rows }, series, today);
  return { states, series, forecast: forecastSpan(series, span, today, isExplained) };
}

/** The days whose rows a forecast needs: its history, and the span up to today. */
function withHistory({ first }: Span, today: Day): Span {
  const history = addDays(today, -MODEL_DAYS);
  return { first: history < first ? history : first, last: today };
}

const MONTHS: Readonly<Record<ForecastUnit, number>> = {
  month: 1,
  'next-month': 1,
  quarter: 3,
  year: 12,
};

function forecastSpanOf(unit: ForecastUnit, today: Day): Span {
  const first =
    unit === 'next-month' ? addMonths(startOf('month', today), 1) : startOf(unit, today);
  return { first, last: addDays(addMonths(first, MONTHS[unit]), -1) };
}

type KnownForecast = Forecast & { ok: true };

/** `heading for 8,074 credits (7,800–8,350)`, or with a wide range `heading for 3,858–9,854 credits`. */
function headingText({ total, low, high, isWide }: KnownForecast, money: Money | null): string {
  const range = rangeText(low, high);
  if (isWide) return `heading for ${range} credits`;
  const inMoney = money ? ` · ${roughMoneyText(money)}` : '';
  return `heading for ${roundedCredits(total)} credits (${range})${inMoney}`;
}

/** The answer of `/cost forecast` to the typed words. */
export async function answerForecast(
  words: string,
  context: CostContext,
  asker: Pick<Caller, 'by' | 'channel'>,
): Promise<Answer> {
  const today = dayOf(context.now());
  const asked = readForecastQuestion(words, today, context.services);
  if (!asked.ok) return asked.answer;
  const { unit, question } = asked;
  const span = forecastSpanOf(unit, today);
  const typed = { command: 'cost forecast', words } as const;
  const days = withHistory(span, today);
  const costs = await readQuestionCosts(question, days, { context, asker, typed });
  if (!costs.ok) return costs.answer;
  const { read } = costs;
  const lineFor = (scope: QuestionScope) =>
    ['cost forecast', unit, ...wordsOfScope(scope)].join(' ');
  const scoped = scopedRows({ question, lineFor }, read.rows, context.services);
  if (!scoped.ok) return scoped.answer;
  const { scope, label: scopeLabel, select } = scoped;
  const label = [...(scopeLabel ? [scopeLabel] : []), nameOf(unit, span, today)].join(' · ');
  if (read.rows.length === 0) return noDataAnswer(label, read);
  const line = lineFor(question.scope);
  const closing: readonly AnswerPart[] = [
    {
      kind: 'offers',
      offers: [
        ...(unit === 'month'
          ? [{ label: 'Next month', line: line.replace('month', 'next-month') }]
          : []),
        shareOffer(line),
        { label: 'Refresh', line: `${line} refresh` },
      ],
    },
    footerPart(read, null, scopeNotes(scope)),
  ];
  const without = (text: string): Answer => ({
    title: `${label}: no forecast`,
    parts: [{ kind: 'text', text }, ...closing],
  });
  const missing = missingText(read, days);
  if (missing !== null) return without(`${missing} could not be read. A forecast needs all costs.`);
  const { forecast, states, series } = forecastOf(read, select, { span, today });
  if (!forecast.ok) return without(unavailableText(forecast));
  const money = forecastMoney(forecast.total, series, span, read.prices ?? null);
  const answer: Answer = {
    title: `${label}: ${headingText(forecast, money)}`,
    parts: [
      { kind: 'text', text: assumptionText(forecast) },
      factsPart(states, forecast, { span, today }),
      ...closing,
    ],
  };
  return question.share ? share(answer, line, context, asker) : answer;
}

function nameOf(unit: ForecastUnit, span: Span, today: Day): string {
  if (unit !== 'quarter') return formatSpan(span, today);
  return `Q${quarterOf(span.first)} ${span.first.slice(0, 4)}`;
}

/** What the forecast assumes: the usual level, and a shift that may stay or return. */
function assumptionText({ basis: { level, shift, batch } }: KnownForecast) {
  const usual = `About 80% sure, if usage does not change: usually ${roundedCredits(level)} credits per day, adjusted for weekdays.`;
  const shifted = shift
    ? `Since ${formatDay(shift.since)} it is ${roundedCredits(shift.level)}: the range covers both, until seven days show a new level.`
    : null;
  const recurs = batch > 0 ? 'A batch at the end of the month is expected again.' : null;
  return [usual, shifted, recurs].filter((text) => text !== null).join(' ');
}

function factsPart(
  states: readonly DayState[],
  { total, soFar, basis }: KnownForecast,
  { span, today }: ForecastDays,
): AnswerPart {
  // The forecast does not count the days before the first report.
  const first = states.find(({ state }) => state !== 'no-data')?.day ?? span.first;
  const begin = first > span.first ? first : span.first;
  const counts = dayCountsOf(states, { first: span.first, last: today });
  const missing = counts.missing.filter((day) => day >= begin && day < today);
  const open = `${counts.preliminaryDays} of ${countWords(counts.days, 'day')} not final`;
  return {
    kind: 'facts',
    facts: [
      ...(counts.days > 0
        ? [['Reported so far', `${creditsText(counts.total)} through today, ${open}`] as const]
        : []),
      [
        'Still expected',
        `${roundedCredits(total - soFar)} credits in ${countWords(basis.expectedDays, 'day')}`,
      ],
      ...(missing.length > 0
        ? [['No data', `${formatDays(missing, today)}; half of the usual cost counts`] as const]
        : []),
      ...(begin > span.first ? [['Not counted', unreportedText(span, begin, today)] as const] : []),
    ],
  };
}

function unreportedText({ first }: Span, begin: Day, today: Day): string {
  const before = formatSpan({ first, last: addDays(begin, -1) }, today);
  return `${before}, before the first report`;
}

function unavailableText({ why, days }: Forecast & { ok: false }): string {
  return why === 'too-few-days'
    ? `Only ${countWords(days, 'day is', 'days are')} known. A forecast needs 3.`
    : 'The last known day is too long ago.';
}

/** Whether these are the days of the current month so far, with or without today. */
export function isMonthSoFar({ first, last }: Span, today: Day): boolean {
  return first === startOf('month', today) && last >= addDays(today, -1);
}

interface MonthForecast {
  /** `November heading for 8,074`, or `November heading for 8,074 (€2,826)` */
  readonly title: string;
  /** One sentence with the range. */
  readonly text: string;
  /** The months of which it uses an older copy. */
  readonly gaps: readonly CostGap[];
}

/** The forecast of the current month for `/cost mtd`; null if there is none. */
export async function monthForecast(
  context: Pick<CostContext, 'costs'>,
  select: SelectRows,
  today: Day,
): Promise<MonthForecast | null> {
  return monthForecastOf(await context.costs(monthForecastDays(today)), select, today);
}

/** The days whose rows the forecast of the current month needs. */
function monthForecastDays(today: Day): Span {
  return withHistory(forecastSpanOf('month', today), today);
}

/** Null without all rows: with a part of them, it would be another forecast. */
function monthForecastOf(read: CostReading, select: SelectRows, today: Day): MonthForecast | null {
  if (missingText(read, monthForecastDays(today)) !== null) return null;
  const span = forecastSpanOf('month', today);
  const { forecast, series } = forecastOf(read, select, { span, today });
  if (!forecast.ok) return null;
  const money = forecastMoney(forecast.total, series, span, read.prices ?? null);
  const { total, low, high, isWide } = forecast;
  const point = isWide ? rangeText(low, high) : roundedCredits(total);
  const inMoney = isWide ? '' : bracketed(money && roughMoneyText(money));
  const month = formatMonthName(span.first);
  return {
    title: `${month} heading for ${point}${inMoney}`,
    text: `${month} is ${headingText(forecast, money)}, about 80% sure, if usage does not change.`,
    gaps: read.gaps,
  };
}

/** What App Home shows about costs. */
interface HomeCosts {
  /** `Yesterday 317 credits so far, as usual` */
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
  const span = { first: yesterday, last: yesterday };
  const [state] = dayStates(read.rows, span);
  if (read.fetchedAt === null || !state || state.state === 'no-data') return null;
  if (missingText(read, span) !== null) return null;
  const series = seriesFrom(dayStates(read.rows, monthForecastDays(today)));
  const forecast = monthForecastOf(read, (rows: readonly CostRow[]) => rows, today);
  // A sum may be as usual where a line is not.
  const { unusual } = judgeCosts({ read, today });
  const isUnusual = unusual.some(({ last }) => last === yesterday);
  const cost = creditsText(state.total, moneyOf([[state.price, state.total]]));
  const open = state.state === 'final' ? '' : ' so far';
  return {
    title: `Yesterday ${cost}${open}${isUnusual ? '' : sideText(series, yesterday)}`,
    lines: ['Days are in UTC.', ...(forecast ? [forecast.text] : [])],
    asOf: read.fetchedAt,
  };
}

/** `, as usual`, `, above the usual 233–310`; empty while it is not known. */
function sideText(series: readonly DayValue[], day: Day): string {
  const own = series.find((one) => one.day === day);
  const usual = own && usualRange(series, own);
  if (!own || !usual) return '';
  if (usual.side !== 'within')
    return `, ${usual.side} the usual ${rangeText(usual.low, usual.high)}`;
  return own.final || own.openDay?.completeness ? ', as usual' : '';
}
