import {
  formatDate,
  formatDay,
  formatDays,
  formatSpan,
  lengthOf,
  monthOf,
  monthSpan,
  type Span,
  within,
} from '../base/calendar.ts';
import { addDays, type Day, dayNumber } from '../base/time.ts';
import { type Answer, type AnswerPart, countWords, utcStamp } from '../domain/answer.ts';
import { type Range, usualRange } from '../maths/anomalies.ts';
import { relativeOf } from '../maths/compare.ts';
import {
  type DayState,
  FRESH_DAYS,
  isSettled,
  isSettledDay,
  type LockAge,
  lockAgeText,
} from '../maths/days.ts';
import { type Money, moneyDifference, moneyOf, priceNote, roughMoneyText } from '../maths/money.ts';
import {
  bracketed,
  changeText,
  creditsText,
  figure,
  figureNote,
  roundedFigure,
  shareText,
  signedFigure,
} from '../maths/numbers.ts';
import { type CostGap, type CostReading, mergeProblems, problemText } from '../maths/report.ts';
import { type DayValue, type Micro, microOf, moneyOfDay } from '../maths/rows.ts';
import { settledDays } from '../maths/statistics.ts';

/** The final, preliminary and missing days of a span; amounts in millionths of a credit. */
interface DayCounts {
  readonly total: Micro;
  readonly money: Money | null;
  readonly preliminary: Micro;
  /** `preliminary / total`, from 0 to 1; null if the total is 0. */
  readonly share: number | null;
  readonly days: number;
  readonly finalDays: number;
  readonly preliminaryDays: number;
  /** The days without data. No data is not zero: no sum and no average includes them. */
  readonly missing: readonly Day[];
}

/** Counts the days of a span by state. Source: docs/costs.md#standing. */
export function dayCountsOf(states: readonly DayState[], span: Span): DayCounts {
  const own = within(states, span);
  const sum = (key: 'total' | 'preliminary') => own.reduce((all, state) => all + state[key], 0);
  const those = (wanted: DayState['state']) => own.filter(({ state }) => state === wanted);
  const total = sum('total');
  const preliminary = sum('preliminary');
  return {
    total,
    money: moneyOf(own.map((state) => [state.price, state.total])),
    preliminary,
    share: total > 0 ? preliminary / total : null,
    days: own.length,
    finalDays: those('final').length,
    preliminaryDays: those('preliminary').length,
    missing: those('no-data').map(({ day }) => day),
  };
}

/**
 * The headline day of a report: the last settled day if it is at most five days ago, else the last
 * complete day with rows, which is not settled; null without any.
 * Source: docs/costs.md#day-states-and-locking.
 */
export function headlineDay(states: readonly DayState[], today: Day): DayState | null {
  const past = states.filter(({ day, state }) => day < today && state !== 'no-data');
  const settled = past.findLast(isSettledDay);
  const isFresh = settled && dayNumber(today) - dayNumber(settled.day) <= FRESH_DAYS;
  return (isFresh ? settled : past.at(-1)) ?? null;
}

type DayComparison =
  | { readonly state: 'settled'; readonly delta: Micro; readonly relative: number | null }
  /** Not settled, and already above the baseline: reported at once. */
  | { readonly state: 'already-above'; readonly delta: Micro }
  /** Not settled, and above the baseline if the day is as complete as other days at its age. */
  | { readonly state: 'heading-above'; readonly delta: Micro; readonly relative: number | null }
  /** Not settled and not above the baseline: not reported, because the day may be incomplete. */
  | { readonly state: 'not-settled' };

/**
 * Compares one day with a baseline in credits. Increases are reported early, decreases only when the
 * day is settled. With a completion factor, value / factor is compared: the value that the day has
 * when it is final, if it is as complete as other days at its age. Source: docs/costs.md#single-days.
 */
export function compareDay(day: DayValue, baseline: number): DayComparison {
  const before = microOf(baseline);
  const delta = microOf(day.value) - before;
  if (isSettled(day)) {
    return { state: 'settled', delta, relative: relativeOf(microOf(day.value), before) };
  }
  const { typical } = day.openDay?.completion ?? { typical: null };
  const expected = typical === null ? null : microOf(day.value / typical);
  if (expected !== null && expected > before) {
    const relative = relativeOf(expected, before);
    return { state: 'heading-above', delta: expected - before, relative };
  }
  return delta > 0 ? { state: 'already-above', delta } : { state: 'not-settled' };
}

const WEEK = 7;

/** One day compared with the same weekday a week ago. */
export function dayComparisonText(series: readonly DayValue[], day: DayValue): string {
  const compared = againstWeekday(series, day);
  if (compared !== null) return compared;
  return isSettled(day)
    ? 'No comparison: the same weekday of the week before is not final'
    : 'Not final yet, too early to compare';
}

/** `238.4 · +4% vs Tue 10 Nov (229.1)`, for a list of days. */
export function dayLineText(series: readonly DayValue[], day: DayValue): string {
  const compared = againstWeekday(series, day);
  const value = figure(microOf(day.value), moneyOfDay(day));
  return `${value}${openText(day)}${compared ? ` · ${compared}` : ''}`;
}

/** The label of a day that is not final; a settled one can still change as well. */
export function openText({ final }: Pick<DayValue, 'final'>): string {
  return final ? '' : ', not final';
}

function againstWeekday(series: readonly DayValue[], day: DayValue): string | null {
  const before = series.find((one) => one.day === addDays(day.day, -WEEK));
  if (!before || !isSettled(before)) return null;
  const name = formatDay(before.day);
  return againstText(day, { name, value: before.value, money: moneyOfDay(before) });
}

interface Baseline {
  readonly name: string;
  readonly value: number;
  readonly money: Money | null;
}

function againstText(day: DayValue, { name, value, money }: Baseline): string | null {
  const verdict = compareDay(day, value);
  const was = `${name}${figureNote(microOf(value), money)}`;
  if (verdict.state === 'not-settled') return null;
  const now = moneyOf([[day.price, microOf(value) + verdict.delta]]);
  const difference = signedFigure(verdict.delta, moneyDifference(now, money));
  if (verdict.state === 'already-above') return `already ${difference} vs ${was}`;
  const change = verdict.relative === null ? difference : changeText(verdict.relative);
  return `${verdict.state === 'settled' ? change : `heading for ${change}`} vs ${was}`;
}

/** A day and its usual range, rounded alike, so that the texts show on which side of it the day is. */
export interface UsualText {
  /** `317` */
  readonly value: string;
  /** `€111`, if prices are known. */
  readonly money: string | null;
  /** `233–388`; null for a line that is new or rarely has costs. */
  readonly range: string | null;
  /** `€82–€136`, if prices are known. */
  readonly rangeMoney: string | null;
  /** A day that is not settled can still rise, so that it is never below. */
  readonly side: 'within' | 'above' | 'below';
}

/** In whole credits, with decimals for small ranges and near the ends of a range. */
export function usualText(series: readonly DayValue[], day: DayValue, minimum: number): UsualText {
  const range = usualRange(settledDays(series), day.day, minimum);
  const cost = moneyOfDay(day);
  const money = cost && roughMoneyText(cost);
  if (!range) {
    const value = roundedFigure(day.value, day.value < 10);
    return { value, money, range: null, rangeMoney: null, side: 'within' };
  }
  const { low, high } = range;
  const side = sideOf(day, range);
  const isClose =
    side !== 'within' && [low, high].some((end) => Math.round(end) === Math.round(day.value));
  const text = (credits: number) => roundedFigure(credits, isClose || high < 10);
  const ends = `${text(low)}–${text(high)}`;
  return { value: text(day.value), money, range: ends, rangeMoney: rangeMoney(range, day), side };
}

/** `€82–€136` at the price of the day; null without one. */
function rangeMoney({ low, high }: Range, { price }: DayValue): string | null {
  const ends = [low, high].flatMap((value) => moneyOfDay({ value, price }) ?? []);
  return ends.length > 0 ? ends.map(roughMoneyText).join('–') : null;
}

/** `109–181 credits (€37.99–€63.32)`: the usual range of the day; null if none is known. */
export function usualCreditsText(
  series: readonly DayValue[],
  day: DayValue,
  minimum: number,
): string | null {
  const range = usualRange(settledDays(series), day.day, minimum);
  if (!range) return null;
  const ends = [range.low, range.high];
  const text = ends.map((end) => roundedFigure(end, range.high < 10)).join('–');
  return `${text} credits${bracketed(rangeMoney(range, day))}`;
}

/** A difference that no figure can show is none. */
function sideOf(day: DayValue, { low, high }: Range): UsualText['side'] {
  const isShown = (end: number) => roundedFigure(end, true) !== roundedFigure(day.value, true);
  if (day.value > high && isShown(high)) return 'above';
  return isSettled(day) && day.value < low && isShown(low) ? 'below' : 'within';
}

/** Whether the day cost at least `minimum` credits more than the same weekday a week ago. */
export function isRise(series: readonly DayValue[], day: DayValue, minimum: number): boolean {
  const before = series.find((one) => one.day === addDays(day.day, -WEEK));
  return before !== undefined && day.value - before.value >= minimum;
}

export function valueOn(series: readonly DayValue[], day: Day): DayValue | null {
  return series.find((one) => one.day === day) ?? null;
}

/** `1–19 Nov (UTC) · 4,182.6 credits (€1,463.91), not final`. Missing days are reported by `notFinalText`. */
export function headline(label: string, states: readonly DayState[], span: Span): string {
  const { total, money, preliminaryDays } = dayCountsOf(states, span);
  const open = preliminaryDays > 0 ? ', not final' : '';
  return `${label} (UTC) · ${creditsText(total, money)}${open}`;
}

/** How many days are not final or missing; null if all days are final. */
export function notFinalText(states: readonly DayState[], span: Span, today: Day): string | null {
  const { days, preliminaryDays, share, missing } = dayCountsOf(states, span);
  const part =
    share === null || preliminaryDays === days ? '' : ` (${shareText(share)} of the credits)`;
  const open = preliminaryDays > 0 ? [`${notFinal(preliminaryDays, days)}${part}.`] : [];
  const none =
    missing.length > 0 ? [`No data for ${formatDays(missing, today)}; not in the totals.`] : [];
  return [...open, ...none].join(' ') || null;
}

/**
 * Whether whole months that ended are final, or when their last open day usually is, by the lock
 * age; null for other periods. Source: docs/costs.md#standing.
 */
export function closingText(
  { first, last }: Span,
  states: readonly DayState[],
  { today, read: { isFinal = false, lockAge } }: ClosingFacts,
): string | null {
  const isWhole = first.endsWith('-01') && last === monthSpan(monthOf(last)).last;
  if (!isWhole || last >= today) return null;
  const open = states.findLast(({ state }) => state === 'preliminary');
  if (open) return lockAge ? usuallyFinalText(open.day, lockAge, today) : UNKNOWN_LOCK_AGE;
  const known = states.filter(({ state }) => state === 'final').length;
  const missing = lengthOf({ first, last }) - known;
  const days = `${known} days${missing > 0 ? ' with data' : ''}`;
  if (isFinal || missing === 0) return `All ${days} are final.`;
  return `Not final: ${countWords(missing, 'day')} without data may still get some. The ${days} are final.`;
}

const UNKNOWN_LOCK_AGE =
  'Not known yet when it becomes final: too few days were seen to become final.';

function usuallyFinalText(open: Day, { low, high }: LockAge, today: Day): string {
  const usual = { first: addDays(open, low), last: addDays(open, high) };
  if (usual.last < today) return `Later than usual: usually final by ${formatDate(usual.last)}.`;
  if (usual.first < today) return `Usually final by ${formatDate(usual.last)}.`;
  return `Usually final on ${formatSpan(usual, today)}.`;
}

interface ClosingFacts {
  readonly today: Day;
  readonly read: Pick<CostReading, 'isFinal' | 'lockAge'>;
}

function notFinal(open: number, days: number): string {
  if (days === 1) return 'This day is not final yet';
  if (open === days) return `None of the ${days} days is final yet`;
  return `${open} of ${days} days ${open === 1 ? 'is' : 'are'} not final`;
}

/**
 * The age of the figures, when days become final, the price of a credit, the missing months and the
 * inconsistencies of the report, and then `more`. `shownReason`: a reason that the message shows
 * already, and that the footer leaves out.
 */
export function footerPart(
  { fetchedAt, isFinal = false, problems, gaps, lockAge, prices }: CostReading,
  shownReason: string | null = null,
  more: readonly string[] = [],
): AnswerPart & { kind: 'note' } {
  const alike = Map.groupBy(gaps, ({ why, from }) => `${from?.toISOString() ?? ''} ${why}`);
  const texts = [
    fetchedAt ? null : 'Nothing could be fetched',
    isFinal ? 'final, never fetched again' : lockAgeText(lockAge),
    prices ? priceNote(prices) : null,
    ...[...alike.values()].map((each) => gapText(each, shownReason)),
    ...mergeProblems(problems).map(problemText),
    ...more,
  ];
  const text = texts.filter((each) => each !== null).join(' · ');
  return { kind: 'note', text, asOf: fetchedAt };
}

/** One text for all months with the same reason and age. */
function gapText(alike: readonly CostGap[], shownReason: string | null): string {
  const [{ why, from } = { why: '', from: null }] = alike;
  const months = `${alike.map(({ month }) => month).join(', ')} ${alike.length > 1 ? 'are' : 'is'}`;
  if (from === null) return `${months} missing${why === shownReason ? '' : `: ${why}`}`;
  const reason = why === shownReason ? '' : `: the report cannot be read now (${why})`;
  return `${months} from ${utcStamp(from)}${reason}`;
}

/** The answer if there is no row at all: the reason, and no figures. */
export function noDataAnswer(label: string, read: CostReading): Answer {
  const [gap] = read.gaps;
  const text = gap ? unreadText(gap) : 'The usage report has no data for these days.';
  const parts: readonly AnswerPart[] = [{ kind: 'text', text }, footerPart(read, gap?.why)];
  return { title: `${label} (UTC)`, parts };
}

/** The answer if only final days are requested and none of them is: their sum would be a false 0. */
export function noFinalDayAnswer(label: string, days: number, read: CostReading): Answer {
  const text = `${notFinal(days, days)}.`;
  return { title: `${label} (UTC)`, parts: [{ kind: 'text', text }, footerPart(read)] };
}

function unreadText({ why, denied }: CostGap): string {
  const now = denied ? '' : ' now';
  const help = denied ? 'An operator of Signalbox must fix the API key.' : 'Try again in a minute.';
  return `The usage report cannot be read${now}: ${withoutStop(why)}. ${help}`;
}

function withoutStop(sentence: string): string {
  return sentence.replace(/\.$/, '');
}
