import type { Change, JsonObject } from '../../changes/change.ts';
import type { AuditEventTable, Db } from '../tables/schema.ts';
import { isAuthentic, readEventBody } from './chain.ts';

/**
 * Whether the audit trail contains every version of this change in order, signed with the current
 * key, and each approval of its plan digest. An attacker with write access to the database but
 * without the key can change the change, but not its audit events.
 */
export async function matchesAuditTrail(
  db: Db,
  key: Buffer | null,
  change: Change,
): Promise<boolean> {
  const rows = await db
    .selectFrom('audit_event')
    .selectAll()
    .where('change_id', '=', change.id)
    .where('version', 'is not', null)
    .orderBy('version')
    .execute();
  if (!rows.every((row) => isAuthentic(row, key))) return false;
  return hasEveryVersion(rows, change) && coversVerdicts(rows, change);
}

function hasEveryVersion(rows: readonly AuditEventTable[], { version, state }: Change): boolean {
  const follows = rows.every(
    (row, index) =>
      row.version === index + 1 && row.from_state === (rows[index - 1]?.to_state ?? null),
  );
  return follows && rows.length === version && rows.at(-1)?.to_state === state;
}

/** Whether the events name the requester, every approver and always the same plan digest. */
function coversVerdicts(rows: readonly AuditEventTable[], change: Change): boolean {
  const events = rows.map((row): JsonObject => ({ ...readEventBody(row).body, kind: row.kind }));
  const [first] = events;
  const isRequested = first?.kind === 'planned-return' || first?.by === change.requester;
  const sameDigest = events.every(({ digest }) => digest === change.digest);
  return isRequested && sameDigest && change.approvals.every(({ by }) => events.some(approves(by)));
}

/** A revert was approved together with its parent: its first event lists the approvers. */
function approves(user: string) {
  return ({ kind, by, approvers }: JsonObject): boolean => {
    if (kind === 'approved') return by === user;
    return kind === 'planned-return' && Array.isArray(approvers) && approvers.includes(user);
  };
}
