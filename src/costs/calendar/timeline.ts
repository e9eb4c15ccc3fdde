import type { DayState } from '../ledger/ledger.ts';
import type { SummaryLine } from '../ledger/summary.ts';
import { type Bucket, bucketsOf, type TimeUnit } from './bucket.ts';
import { dayLabel, monthLabel, shortSpan } from './span-label.ts';

/**
 * The lines of `sumBy` over time, beside the calendar of the days that were asked for: one of which
 * only a part was asked for says which, a day on which the report has data of others only is a
 * zero, and one without any data is a line of no days. A top, which is of the dearest, only gets
 * the names. Source: docs/costs.md#day-states-and-locking.
 */
export function onCalendar(
  lines: readonly SummaryLine[],
  states: readonly DayState[],
  unit: TimeUnit,
): readonly SummaryLine[] {
  const known = new Map(lines.map((line) => [line.key, line]));
  const own = bucketsOf(states, unit).map((bucket) => lineOf(bucket, unit, known.get(bucket.key)));
  if (!known.has('other')) return own;
  const named = new Map(own.map((line) => [line.key, line]));
  return lines.map((line) => named.get(line.key) ?? line);
}

function lineOf(bucket: Bucket, unit: TimeUnit, known: SummaryLine | undefined): SummaryLine {
  const { key, days, isOpen } = bucket;
  const nothing = { key, total: 0, share: days > 0 ? 0 : null, days, preliminary: 0 };
  return { ...nothing, ...known, name: bucketName(bucket, unit), isOpen };
}

/** `Nov 2026, 1–20` and `week of Mon 16 Nov, 16–19` of what is only a part. */
function bucketName(bucket: Bucket, unit: TimeUnit): string {
  if (unit === 'day') return dayLabel(bucket.first);
  const { key, first, isWhole, days, missing } = bucket;
  const name = unit === 'week' ? `week of ${dayLabel(key)}` : monthLabel(first);
  const part = isWhole ? [] : [shortSpan(bucket)];
  const none = `${missing.length} ${missing.length === 1 ? 'day' : 'days'} without data`;
  return [name, ...part, ...(days > 0 && missing.length > 0 ? [none] : [])].join(', ');
}
