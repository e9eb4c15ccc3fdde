import { tz } from '@date-fns/tz';
import { format } from 'date-fns';

/** `1 event`, `2 events`; `many` is given where the plural is irregular or more words follow. */
export function countWords(count: number, one: string, many = `${one}s`): string {
  return `${count} ${count === 1 ? one : many}`;
}

const UTC = { in: tz('UTC') };

/** `2026-11-20 09:30 UTC`, to the minute; for texts without Slack's own dates. */
export function utcStamp(at: Date): string {
  return format(at, "yyyy-MM-dd HH:mm 'UTC'", UTC);
}
