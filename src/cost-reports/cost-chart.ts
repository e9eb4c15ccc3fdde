import { type Bucket, bucketsOf, type TimeUnit } from '../costs/calendar/bucket.ts';
import { lengthOf, type Span } from '../costs/calendar/calendar.ts';
import type { Day } from '../costs/calendar/day.ts';
import {
  dateOf,
  dayOfMonth,
  daysLabel,
  monthLabel,
  shortSpan,
  spanLabel,
} from '../costs/calendar/span-label.ts';
import type { DayState } from '../costs/ledger/ledger.ts';
import { creditsOf } from '../costs/ledger/row.ts';
import type { AnswerPart } from '../intent/answers/answer.ts';
import { countWords } from '../intent/answers/texts.ts';

const POINTS_MAX = 20;
const TITLE_MAX = 50;
const UNITS: readonly TimeUnit[] = ['day', 'week', 'month'];

/**
 * Bars by day, or by week or month if there are too many days; not finer than `wanted` if possible.
 * Values that can still change have a mark. A day without data has no bar, because Slack needs a
 * number and 0 would mean that the day cost nothing. The title lists the days without data.
 */
export function chartPart(
  states: readonly DayState[],
  { first, last }: Span,
  today: Day,
  wanted: TimeUnit = 'day',
): AnswerPart | null {
  const own = states.filter(({ day }) => day >= first && day <= last);
  const fitting = fittingUnit(own, wanted);
  if (!fitting) return null;
  const { unit, buckets } = fitting;
  return {
    kind: 'chart',
    title: titleOf(unit, own, today),
    unit: 'credits',
    axis: `${spanLabel({ first, last }, today)} (UTC)${markText(fitting)}`,
    points: buckets.filter(hasData).map((bucket) => ({
      label: `${labelOf(bucket, fitting)}${bucket.isOpen ? '*' : ''}`,
      value: creditsOf(bucket.total),
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
  const whole = `${title} · no data for ${daysLabel(missing, today)}`;
  return whole.length <= TITLE_MAX
    ? whole
    : `${title} · ${countWords(missing.length, 'day')} without data`;
}

/** The days that are not final: a label that does not fit is hidden together with its mark. */
function markText({ unit, buckets }: ChartUnit): string {
  const open = buckets.filter(({ isOpen }) => isOpen);
  const [from] = open;
  const to = open.at(-1);
  if (!from || !to) return '';
  const run = { first: from.first, last: to.last };
  const isRun = unit === 'day' && lengthOf(run) === open.length;
  return ` · * not final${isRun ? `: ${shortSpan(run)}` : ''}`;
}

interface ChartUnit {
  readonly unit: TimeUnit;
  readonly buckets: readonly Bucket[];
}

/** As short as possible, because Slack hides labels that do not fit. The axis shows the rest. */
function labelOf(bucket: Bucket, { unit, buckets }: ChartUnit): string {
  const { first, isWhole } = bucket;
  if (unit === 'day') return String(dayOfMonth(first));
  if (unit === 'week') return isWhole ? dateOf(first) : partOfWeek(bucket);
  const month = monthLabel(first);
  const name = buckets.length > 12 ? month : month.slice(0, 3);
  return isWhole ? name : `${name} ${shortSpan(bucket)}`;
}

function partOfWeek({ first, last }: Span): string {
  const from = first.slice(0, 7) === last.slice(0, 7) ? String(dayOfMonth(first)) : dateOf(first);
  return first === last ? dateOf(first) : `${from}–${dateOf(last)}`;
}
