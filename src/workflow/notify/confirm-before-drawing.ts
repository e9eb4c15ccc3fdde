import { type Change, hasAuditMismatch } from '../../changes/change.ts';
import { auditRefusal } from '../../storage/audit/matches-audit-trail.ts';
import { lockChange } from '../../storage/tables/changes/changes.ts';
import type { StoredChange } from '../../storage/tables/changes/stored-record.ts';
import type { DecisionContext } from '../ports.ts';
import { stopChange } from '../stop-change.ts';

/**
 * Returns the change as it may be shown. If the audit trail does not confirm the stored row, its stop
 * reason is `audit-mismatch`: then a card shows none of its values and no buttons. A waiting change
 * ends, so that putting the row back does not make it valid again.
 */
export async function confirmBeforeDrawing(
  context: DecisionContext,
  { change, record }: StoredChange,
): Promise<Change> {
  if (hasAuditMismatch(change)) return change;
  const { database, auditKey, log } = context;
  const refusal = await auditRefusal(database.db, auditKey, change, record);
  if (refusal !== 'audit-mismatch') return change;
  return database.transaction(async (tx) => {
    // Under the lock, because the change may have moved between the reads above.
    const current = (await lockChange(tx, change.id)) ?? change;
    if ((await auditRefusal(tx, auditKey, current)) !== 'audit-mismatch') return current;
    const stop = { why: 'audit-mismatch' } as const;
    if (['pending', 'approved'].includes(current.state)) {
      return stopChange(tx, context, current, stop);
    }
    log.error({ change: change.id }, 'change does not match the audit trail; it is not shown');
    return { ...current, stopReason: stop.why };
  });
}
