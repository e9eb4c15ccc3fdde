import { type Change, hasAuditMismatch } from '../../domain/change.ts';
import { gate } from '../../domain/gate.ts';
import { lockStored } from '../../log/old/changes.ts';
import { auditRefusal } from '../../log/old/matches-audit-trail.ts';
import type { VerifiableChange } from '../../log/old/stored-record.ts';
import type { DecisionContext } from './ports.ts';
import { stopChange } from './stop-change.ts';

/**
 * Returns the change as it may be shown. If the audit trail does not confirm the stored row, its stop
 * reason is `audit-mismatch`: then a card shows none of its values and no buttons. A waiting change
 * ends, so that putting the row back does not make it valid again.
 */
export async function confirmBeforeDrawing(
  context: DecisionContext,
  stored: VerifiableChange,
): Promise<Change> {
  const { change } = stored;
  if (hasAuditMismatch(change)) return change;
  const { database, auditKey, log } = context;
  const refusal = await auditRefusal(database.db, auditKey, change, stored);
  if (refusal !== 'audit-mismatch') return change;
  return database.transaction(async (tx) => {
    // Under the lock, because the change may have moved between the reads above.
    const locked = await lockStored(tx, change.id);
    const { change: current } = locked ?? stored;
    const again = await auditRefusal(tx, auditKey, current, locked ?? undefined);
    if (again !== 'audit-mismatch') return current;
    const why = 'audit-mismatch';
    const end = gate(current, 'stop', { why });
    // A draft has no card.
    if ('refusal' in end || current.state === 'draft') {
      log.error({ change: change.id }, 'change does not match the audit trail; it is not shown');
      return { ...current, stopReason: why };
    }
    return stopChange(tx, context, current, end);
  });
}
