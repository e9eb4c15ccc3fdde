import type { Change, Position } from '../../domain/change.ts';
import { recordedSchedule } from '../../log/old/schedule-events.ts';
import type { PostAttempt } from './messenger-port.ts';
import type { DecisionContext } from './ports.ts';
import { EXPIRED } from './schedule-service.ts';

/**
 * Reminds the requester that a schedule expires soon, or reports that it has expired. A schedule that
 * was removed or replaced needs neither.
 */
export async function remindOfSchedule(
  { database, auditKey, messenger }: DecisionContext,
  change: Change,
  at: Position,
  attempt: PostAttempt,
): Promise<void> {
  const recorded = await recordedSchedule(database.db, auditKey, change.id);
  if (!recorded) return;
  const { until, ended } = recorded;
  if (ended !== null && ended !== EXPIRED) return;
  await messenger.postScheduleReminder(change, at, { until, hasExpired: ended !== null }, attempt);
}
