import { formatDay, formatMonth, formatShortSpan } from '../../base/calendar.ts';
import type { DayState } from '../ledger/ledger.ts';
import { OTHER_LINES, type SummaryLine } from '../ledger/summary.ts';
import { type Bucket, bucketsOf, type TimeUnit } from './bucket.ts';

/**
 * The lines of `sumBy` by day, week or month, with a line for each unit of the requested days. The
 * name of an incomplete unit shows its days. A unit with other rows only has a cost of 0; one without
 * any data has no days. The top lines, ordered by cost, only get their names.
 * Source: docs/costs.md#day-states-and-locking.
 */
export function onCalendar(
  lines: readonly SummaryLine[],
  states: readonly DayState[],
  unit: TimeUnit,
): readonly SummaryLine[] {
  const known = new Map(lines.map((line) => [line.key, line]));
  const own = bucketsOf(states, unit).map((bucket) => lineOf(bucket, unit, known.get(bucket.key)));
  if (!known.has(OTHER_LINES)) return own;
  const named = new Map(own.map((line) => [line.key, line]));
  return lines.map((line) => named.get(line.key) ?? line);
}

function lineOf(bucket: Bucket, unit: TimeUnit, known: SummaryLine | undefined): SummaryLine {
  const { key, days, isOpen } = bucket;
  const share = days > 0 ? 0 : null;
  const nothing = { key, total: 0, money: null, share, days, preliminary: 0 };
  return { ...nothing, ...known, name: bucketName(bucket, unit), isOpen };
}

/** Incomplete units show their days: `Nov 2026, 1–20`, `week of Mon 16 Nov, 16–19`. */
function bucketName(bucket: Bucket, unit: TimeUnit): string {
  if (unit === 'day') return formatDay(bucket.first);
  const { key, first, isWhole, days, missing } = bucket;
  const name = unit === 'week' ? `week of ${formatDay(key)}` : formatMonth(first);
  const part = isWhole ? [] : [formatShortSpan(bucket)];
  const none = `${missing.length} ${missing.length === 1 ? 'day' : 'days'} without data`;
  return [name, ...part, ...(days > 0 && missing.length > 0 ? [none] : [])].join(', ');
}
