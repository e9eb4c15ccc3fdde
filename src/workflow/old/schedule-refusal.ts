import type { Change } from '../../domain/change.ts';
import type { ClaimFacts } from '../../domain/gate.ts';
import { loadChange } from '../../log/old/changes.ts';
import { auditRefusal } from '../../log/old/matches-audit-trail.ts';
import { recordedSchedule } from '../../log/old/schedule-events.ts';
import type { Tx } from '../../storage/old/database.ts';
import type { DecisionContext } from './ports.ts';

const SCHEDULE = 'service schedule';

/** Reads the schedule of a run under the lock; `unknown`: there is none. Null for any other change. */
export async function readScheduleOf(
  tx: Tx,
  { auditKey }: Pick<DecisionContext, 'auditKey'>,
  { plan }: Change,
): Promise<ClaimFacts['schedule']> {
  const id = plan.timing?.schedule;
  if (!id) return null;
  const schedule = await loadChange(tx, id);
  const recorded = await recordedSchedule(tx, auditKey, id);
  if (!schedule || !recorded) return 'unknown';
  return { ...recorded, log: await auditRefusal(tx, auditKey, schedule) };
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
