import { formatDays, formatSpan, quarterOf, type Span } from '../../base/calendar.ts';
import { addDays, type Day, dayOf } from '../../base/time.ts';
import { dayCountsOf } from '../../costs/comparison/day-counts.ts';
import type { Answer, AnswerPart, Caller } from '../../domain/answer.ts';
import { countWords } from '../../domain/answer.ts';
import type { DayState } from '../../maths/days.ts';
import type { Forecast } from '../../maths/forecast.ts';
import { LONGEST_HORIZON } from '../../maths/forecast.ts';
import { type Money, moneyDifference, roughMoneyText } from '../../maths/money.ts';
import { bracketed, creditsText, shareText } from '../../maths/numbers.ts';
import type { QuestionScope } from '../../maths/question.ts';
import { unreadMonths } from '../../maths/report.ts';
import { LEAST_DAYS } from '../../maths/statistics.ts';
import { type CostContext, readQuestionCosts } from '../question/cost-question.ts';
import {
  type ForecastUnit,
  forecastWords,
  readForecastQuestion,
} from '../question/forecast-question.ts';
import { scopedRows } from '../question/scoped-rows.ts';
import { scopeNotes } from '../scope.ts';
import { footerPart, noDataAnswer } from '../summary.ts';
import {
  type ForecastDays,
  type ForecastMoney,
  forecastOfRows,
  forecastSpanOf,
  headingText,
  type KnownForecast,
  moneyOfForecast,
  roundedCredits,
  withHistory,
} from './forecast-figures.ts';

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
