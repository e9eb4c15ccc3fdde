import { type Bucket, bucketsOf, type TimeUnit } from '../costs/bucket.ts';
import type { Span } from '../costs/calendar.ts';
import type { Day } from '../costs/day.ts';
import type { DayState } from '../costs/ledger.ts';
import { creditsOf } from '../costs/row.ts';
import {
  dateOf,
  dayOfMonth,
  daysLabel,
  monthLabel,
  shortSpan,
  spanLabel,
} from '../costs/span-label.ts';
import type { Part } from '../intent/answer.ts';

const POINTS_MAX = 20;
const TITLE_MAX = 50;
const UNITS: readonly TimeUnit[] = ['day', 'week', 'month'];

/**
 * Days as they are while they fit, else weeks or months. What can still change has a mark, and what
 * is only a part says which. Slack wants a number for each bar, so that a day without data has none:
 * a bar of no height would say that it cost nothing. The title says of which days there is no data.
 */
export function chartPart(
  states: readonly DayState[],
  { first, last }: Span,
  today: Day,
): Part | null {
  const own = states.filter(({ day }) => day >= first && day <= last);
  const drawn = UNITS.map((unit) => ({ unit, buckets: bucketsOf(own, unit) }));
  const fitting = drawn.find(({ buckets }) => buckets.length <= POINTS_MAX);
  const shown = fitting?.buckets.filter(({ days }) => days > 0) ?? [];
  if (!fitting || shown.length < 2) return null;
  const mark = shown.some(({ isOpen }) => isOpen) ? ' · * not final' : '';
  return {
    kind: 'chart',
    title: titleOf(fitting.unit, own, today),
    unit: 'credits',
    axis: `${spanLabel({ first, last }, today)} (UTC)${mark}`,
    points: shown.map((bucket) => ({
      label: `${labelOf(bucket, fitting)}${bucket.isOpen ? '*' : ''}`,
      value: creditsOf(bucket.total),
    })),
  };
}

function titleOf(unit: TimeUnit, states: readonly DayState[], today: Day): string {
  const title = unit === 'week' ? 'Credits a week, from Monday' : `Credits a ${unit}`;
  const missing = states.filter(({ state }) => state === 'no-data').map(({ day }) => day);
  if (missing.length === 0) return title;
  const whole = `${title} · no data for ${daysLabel(missing, today)}`;
  return whole.length <= TITLE_MAX ? whole : `${title} · ${missing.length} days without data`;
}

interface Drawn {
  readonly unit: TimeUnit;
  readonly buckets: readonly Bucket[];
}

/** As short as can be, for labels that do not fit are not drawn; the axis says the rest. */
function labelOf(bucket: Bucket, { unit, buckets }: Drawn): string {
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
