import {
  dayOfMonth,
  formatDate,
  formatDays,
  formatMonth,
  formatShortSpan,
  formatSpan,
  lengthOf,
  monthOf,
  type Span,
  startOf,
  within,
} from '../base/calendar.ts';
import { addDays, type Day } from '../base/time.ts';
import type { AnswerPart } from '../domain/answer.ts';
import { countWords } from '../domain/answer.ts';
import type { DayState } from '../maths/days.ts';
import { type Bucket, bucketsOf, type TimeUnit } from '../maths/lines.ts';
import { creditsOf } from '../maths/rows.ts';

const POINTS_MAX = 20;
const TITLE_MAX = 50;
/** The last day of the first half of a month. */
const MIDDLE = 15;
const UNITS: readonly TimeUnit[] = ['day', 'week', 'month'];

/**
 * One chart, or two for 21 to 40 days: Slack accepts 20 values in a chart and two
 * charts in a message, and a part of a week or month would look like a drop.
 */
export function chartParts(
  states: readonly DayState[],
  span: Span,
  today: Day,
  wanted: TimeUnit = 'day',
): readonly AnswerPart[] {
  return halvesOf(span, wanted).flatMap((half) => chartPart(states, half, today, wanted) ?? []);
}

function halvesOf(span: Span, wanted: TimeUnit): readonly Span[] {
  const length = lengthOf(span);
  const isOne = length <= POINTS_MAX || length > 2 * POINTS_MAX;
  if (wanted !== 'day' || isOne || isWholeWeeks(span)) return [span];
  const isMonth = monthOf(span.first) === monthOf(span.last) && dayOfMonth(span.first) === 1;
  const last = addDays(span.first, (isMonth ? MIDDLE : Math.ceil(length / 2)) - 1);
  return [
    { first: span.first, last },
    { first: addDays(last, 1), last: span.last },
  ];
}

function isWholeWeeks(span: Span): boolean {
  return startOf('week', span.first) === span.first && lengthOf(span) % 7 === 0;
}

/**
 * Bars by day, or by week or month if there are too many days; not finer than `wanted` if possible.
 * A day without data has no bar, because Slack needs a number and 0 would mean that the day cost
 * nothing. The title lists the days without data.
 */
export function chartPart(
  states: readonly DayState[],
  span: Span,
  today: Day,
  wanted: TimeUnit = 'day',
): AnswerPart | null {
  const own = within(states, span);
  const fitting = fittingUnit(own, wanted);
  if (!fitting) return null;
  const { unit, buckets } = fitting;
  return {
    kind: 'chart',
    title: titleOf(unit, own, today),
    unit: 'credits',
    axis: `${formatSpan(span, today)} (UTC)${openText(fitting)}`,
    points: buckets.filter(hasData).map((bucket) => ({
      label: labelOf(bucket, fitting),
      value: creditsOf(bucket.total),
      isFinal: !bucket.isOpen,
    })),
  };
}

function fittingUnit(states: readonly DayState[], wanted: TimeUnit): ChartUnit | undefined {
  const units = [...UNITS.slice(UNITS.indexOf(wanted)), ...UNITS];
  const candidates = units.map((unit) => ({ unit, buckets: bucketsOf(states, unit) }));
  return candidates.find(
    ({ buckets }) => buckets.length <= POINTS_MAX && buckets.filter(hasData).length >= 2,
  );
}

function hasData({ days }: Bucket): boolean {
  return days > 0;
}

function titleOf(unit: TimeUnit, states: readonly DayState[], today: Day): string {
  const title = `Credits per ${unit}`;
  const missing = states.filter(({ state }) => state === 'no-data').map(({ day }) => day);
  if (missing.length === 0) return title;
  const whole = `${title} · no data for ${formatDays(missing, today)}`;
  return whole.length <= TITLE_MAX
    ? whole
    : `${title} · ${countWords(missing.length, 'day')} without data`;
}

/** The days that are not final, if they are one run: Slack hides labels that do not fit. */
function openText({ unit, buckets }: ChartUnit): string {
  const open = buckets.filter(({ isOpen }) => isOpen);
  const [from] = open;
  const to = open.at(-1);
  if (!from || !to) return '';
  const run = { first: from.first, last: to.last };
  const isRun = unit === 'day' && lengthOf(run) === open.length;
  return isRun ? ` · not final: ${formatShortSpan(run)}` : '';
}

interface ChartUnit {
  readonly unit: TimeUnit;
  readonly buckets: readonly Bucket[];
}

/** As short as possible, because Slack hides labels that do not fit. The axis shows the rest. */
function labelOf(bucket: Bucket, { unit, buckets }: ChartUnit): string {
  const { first, isWhole } = bucket;
  if (unit === 'day') return String(dayOfMonth(first));
  if (unit === 'week') return isWhole ? formatDate(first) : partOfWeek(bucket);
  const month = formatMonth(first);
  const name = buckets.length > 12 ? month : month.slice(0, 3);
  return isWhole ? name : `${name} ${formatShortSpan(bucket)}`;
}

function partOfWeek({ first, last }: Span): string {
  const from =
    first.slice(0, 7) === last.slice(0, 7) ? String(dayOfMonth(first)) : formatDate(first);
  return first === last ? formatDate(first) : `${from}–${formatDate(last)}`;
}
