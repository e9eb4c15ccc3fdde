import {
  addMonths,
  formatDay,
  formatMonthName,
  formatSpan,
  type Span,
  startOf,
  within,
} from '../base/calendar.ts';
import { addDays, type Day, dayOf } from '../base/time.ts';
import { type Answer, type AnswerPart, type Caller, countWords } from '../domain/answer.ts';
import { type DayState, dayStates } from '../maths/days.ts';
import { seriesFrom } from '../maths/lines.ts';
import { moneyOf, roughMoneyText } from '../maths/money.ts';
import { bracketed, creditsText } from '../maths/numbers.ts';
import { wordsOfScope } from '../maths/question.ts';
import type { CostReading } from '../maths/report.ts';
import { missingText } from './budgets.ts';
import { leftOut, withoutText } from './organizations.ts';
import {
  askCosts,
  type CostContext,
  readCostQuestion,
  type SelectRows,
  unclearAnswer,
} from './question.ts';
import { scopeNotes } from './scope.ts';
import { share, shareOffer } from './share.ts';
import {
  dayCountsOf,
  footerPart,
  forecastText,
  type KnownForecast,
  noDataAnswer,
  noForecastText,
  openDaysTexts,
  pointText,
  roundedCredits,
  usualText,
} from './standing.ts';
import { forecastOf, judgeCosts, modelSpan } from './unusual.ts';

const UNITS = ['month', 'next-month', 'quarter', 'year'] as const;
type ForecastUnit = (typeof UNITS)[number];

const WORDS: ReadonlyMap<string, ForecastUnit> = new Map([
  ...UNITS.flatMap((unit) => [[unit, unit] as const, [`this-${unit}`, unit] as const]),
]);

/**
 * Reads `month`, `next month`, `quarter` or `year`, a scope and `refresh`, in any order. Default: the
 * month, all costs.
 */
export function readForecastQuestion(
  words: string,
  today: Day,
  known: Pick<CostContext, 'services' | 'organizations'>,
) {
  const next = formatMonthName(addMonths(today, 1)).toLowerCase();
  const typed = words
    .replace(/\b(next|this) +(?=month|quarter|year)/gi, '$1-')
    .split(/\s+/)
    .map((word) => (word.toLowerCase() === next ? 'next-month' : word));
  const units = new Set(typed.flatMap((word) => WORDS.get(word.toLowerCase()) ?? []));
  const rest = typed.filter((word) => !WORDS.has(word.toLowerCase())).join(' ');
  const [unit = 'month', other] = units;
  if (other !== undefined) {
    const lines = [...units].map((one) => `cost forecast ${one} ${rest}`.trim());
    return { ok: false, answer: unclearAnswer('Choose one:', lines) } as const;
  }
  const asked = readCostQuestion({ command: 'cost forecast', words: rest }, today, known);
  return asked.ok ? { ...asked, unit } : asked;
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

/** The answer of `/cost forecast` to the typed words. */
export async function answerForecast(
  words: string,
  context: CostContext,
  asker: Pick<Caller, 'by' | 'channel'>,
): Promise<Answer> {
  const today = dayOf(context.now());
  const asked = readForecastQuestion(words, today, context);
  if (!asked.ok) return asked.answer;
  const { unit, question } = asked;
  const span = forecastSpanOf(unit, today);
  const days = modelSpan(today, span.first);
  const line = ['cost forecast', unit, ...wordsOfScope(question.scope)].join(' ');
  const costs = await askCosts(question, days, { context, asker, line });
  if (!costs.ok) return costs.answer;
  const { read, scope, label: scopeLabel, select } = costs;
  const label = [...(scopeLabel ? [scopeLabel] : []), formatSpan(span, today)].join(' · ');
  if (read.rows.length === 0) return noDataAnswer(label, read);
  const offers = [
    ...(unit === 'month' ? [{ label: 'Next month', line: line.replace(unit, 'next-month') }] : []),
    shareOffer(line),
    { label: 'Refresh', line: `${line} refresh` },
  ];
  const without = (text: string): Answer => ({
    title: `${label}: no forecast`,
    parts: [{ kind: 'text', text }, { kind: 'offers', offers }, footerPart(read)],
  });
  const missing = missingText(read, days);
  if (missing !== null) return without(`${missing} could not be read. A forecast needs all costs.`);
  const { forecast, states, money } = forecastOf(read, select(read.rows), span, today);
  if (!forecast.ok) return without(noForecastText(forecast));
  const soFar = { first: span.first, last: today };
  const open = openDaysTexts(states, { ...soFar, last: addDays(today, -1) }, { today });
  const answer: Answer = {
    title: `${label}: ${forecastText(forecast, money)}`,
    parts: [
      { kind: 'text', text: assumptionText(forecast) },
      ...(within(states, soFar).length > 0 ? [factsPart(states, forecast, soFar)] : []),
      { kind: 'offers', offers },
      footerPart(read, null, [...open, ...scopeNotes(scope)]),
    ],
  };
  return question.share ? share(answer, line, context, asker) : answer;
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
  span: Span,
): AnswerPart {
  const rest = `${roundedCredits(total - soFar)} credits in ${countWords(basis.expectedDays, 'day')}`;
  const days = formatSpan(span, span.last);
  const reported = [`Reported ${days}`, creditsText(dayCountsOf(states, span).total)] as const;
  return { kind: 'facts', facts: [reported, ['Still expected', rest]] };
}

/** Whether these are the days of the current month so far, with or without today. */
export function isMonthSoFar({ first, last }: Span, today: Day): boolean {
  return first === startOf('month', today) && last >= addDays(today, -1);
}

/** The forecast of the current month; null without all rows: with a part of them, it would be another one. */
export function monthForecast(read: CostReading, select: SelectRows, today: Day) {
  if ((missingText(read, modelSpan(today)) ?? leftOut(read)) !== null) return null;
  const span = forecastSpanOf('month', today);
  const { forecast, money } = forecastOf(read, select(read.rows), span, today);
  if (!forecast.ok) return null;
  const month = formatMonthName(span.first);
  return {
    /** `November heading for 8,074`, or `November heading for 8,074 (€2,826)` */
    title: `${month} heading for ${pointText(forecast)}${bracketed(forecast.isWide ? null : money && roughMoneyText(money))}`,
    text: `${month} is ${forecastText(forecast, money)}, about 80% sure, if usage does not change.`,
    gaps: read.gaps,
  };
}

/**
 * Yesterday and the forecast of the month. `stored` reads the stored report only, so that an opened
 * Home tab never waits for the API. Null if the report was not read yet.
 */
export async function homeCosts(stored: (span: Span) => Promise<CostReading>, now: Date) {
  const today = dayOf(now);
  const read = await stored(modelSpan(today));
  const yesterday = addDays(today, -1);
  const span = { first: yesterday, last: yesterday };
  const [state] = dayStates(read.rows, span);
  if (read.fetchedAt === null || !state || state.state === 'no-data') return null;
  if (missingText(read, span) !== null) return null;
  const series = seriesFrom(dayStates(read.rows, modelSpan(today)));
  const forecast = monthForecast(read, (rows) => rows, today);
  const { unusual, isExplained } = judgeCosts({ read, today });
  const cost = creditsText(state.total, moneyOf([[state.price, state.total]]));
  const open = state.state === 'final' ? '' : ' so far';
  // A sum may be as usual where a line is not.
  const isUnusual = unusual.some(({ last }) => last === yesterday);
  const usual = isUnusual ? null : usualText(series, yesterday, isExplained);
  const out = leftOut(read);
  const older = out === null ? [] : [`The stored figures of ${out} are older.`];
  return {
    title: `Yesterday ${cost}${open}${withoutText(read)}${usual === null ? '' : `, ${usual}`}`,
    lines: ['Days are in UTC.', ...older, ...(forecast ? [forecast.text] : [])],
    asOf: read.fetchedAt,
  };
}
