import { tooEarly } from '../costs/calendar/schedule.ts';
import { scheduleOf } from './due.ts';
import type { DigestSubscription } from './subscriptions/subscriptions.ts';

/** A time so soon after the end of the UTC day that its figures are hardly in; null: late enough. */
export function earlyText(one: DigestSubscription, now: Date): string | null {
  const early = tooEarly(scheduleOf(one), now);
  if (early === null) return null;
  const hours = Math.floor(early.minutesAfterDay / 60);
  const minutes = early.minutesAfterDay % 60;
  const after = `${hours > 0 ? `${hours} h ` : ''}${minutes} min`;
  return (
    `⚠ ${one.options.at} is only ${after} after the UTC day has ended: little of it will be in. ` +
    `From ${early.better} on it is six hours.`
  );
}
