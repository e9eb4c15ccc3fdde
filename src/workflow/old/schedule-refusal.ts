import type { Change } from '../../domain/change.ts';
import { loadChange } from '../../log/old/changes.ts';
import { auditRefusal } from '../../log/old/matches-audit-trail.ts';
import { recordedSchedule } from '../../log/old/schedule-events.ts';
import type { Tx } from '../../storage/old/database.ts';
import type { DecisionContext } from './ports.ts';

const SCHEDULE = 'service schedule';

/**
 * Returns why the schedule of a run does not permit it any more, or null: it was paused, removed or
 * replaced, it has expired, or the audit trail does not confirm it. Null for any other change.
 */
export async function scheduleRefusal(
  tx: Tx,
  { auditKey, now }: Pick<DecisionContext, 'auditKey' | 'now'>,
  { plan }: Change,
): Promise<'schedule-ended' | 'audit-mismatch' | 'upgraded' | null> {
  const id = plan.timing?.schedule;
  if (!id) return null;
  const schedule = await loadChange(tx, id);
  const recorded = await recordedSchedule(tx, auditKey, id);
  if (!schedule || !recorded) return 'audit-mismatch';
  if (recorded.isPaused || recorded.ended !== null || now() >= recorded.until) {
    return 'schedule-ended';
  }
  return auditRefusal(tx, auditKey, schedule);
}

/**
 * The names of a command and of those that were approved together with it: each of their rules must
 * permit the change.
 */
export function approvedCommands(
  { commands }: Pick<DecisionContext, 'commands'>,
  { command, plan }: Change,
): readonly string[] {
  const known = commands.get(command);
  const schedule = plan.timing?.schedule ? [SCHEDULE] : [];
  return [command, ...(known?.runs?.(plan.body) ?? []), ...schedule];
}
