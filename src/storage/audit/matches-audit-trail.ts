import type { Change, JsonObject } from '../../changes/change.ts';
import type { AuditEventTable, Db } from '../tables/schema.ts';
import { isAuthentic, readEventBody } from './chain.ts';

/**
 * Whether the trail tells how this change came to be as it stands: each of its versions, one after
 * the other, by the key of today, and each approval of the very digest. Whoever can write into the
 * database, but has no key, can change the change and not what is told of it.
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
  return isUnbroken(rows, change) && areTold(rows, change);
}

function isUnbroken(rows: readonly AuditEventTable[], { version, state }: Change): boolean {
  const follows = rows.every(
    (row, index) =>
      row.version === index + 1 && row.from_state === (rows[index - 1]?.to_state ?? null),
  );
  return follows && rows.length === version && rows.at(-1)?.to_state === state;
}

/** The plan that is spoken of in all of them, whoever asked for it, and whoever approved it. */
function areTold(rows: readonly AuditEventTable[], change: Change): boolean {
  const deeds = rows.map((row): JsonObject => ({ ...readEventBody(row).body, kind: row.kind }));
  const [first] = deeds;
  const asked = first?.kind === 'planned-return' || first?.by === change.requester;
  const sameDigest = deeds.every(({ digest }) => digest === change.digest);
  return asked && sameDigest && change.approvals.every(({ by }) => deeds.some(approves(by)));
}

/** What takes a change back was approved with it, and says by whom. */
function approves(person: string) {
  return (deed: JsonObject): boolean => {
    if (deed.kind === 'approved') return deed.by === person;
    return (
      deed.kind === 'planned-return' &&
      Array.isArray(deed.approvers) &&
      deed.approvers.includes(person)
    );
  };
}
