import type { Json, JsonObject } from '../../base/text.ts';
import type { Change } from '../../domain/change.ts';
import { planDigest } from '../../domain/draft.ts';
import type { AuditEventTable, Db } from '../../storage/old/schema.ts';
import { readEventBody } from './chain.ts';
import { authenticityCheck } from './key-eras.ts';
import type { AuditKey } from './key-ring.ts';
import { hashOfRecord, recordHash } from './record-hash.ts';
import type { VerifiableChange } from './stored-record.ts';
import { versionEvents } from './version-events.ts';

/**
 * Returns why the audit trail does not confirm this change as it is stored, or null if it does: every
 * version in order, signed with a key of the ring, with the plan digest, each approval, and the hash of
 * the row. An attacker with write access to the database but without the key can change the change,
 * but not its audit events. `upgraded`: release 1.0 wrote some of the events, which cover less.
 * `read`: what was read together with the change; without it, record and events are read again.
 */
export async function auditRefusal(
  db: Db,
  keys: AuditKey,
  change: Change,
  read?: Pick<VerifiableChange, 'record' | 'events'>,
): Promise<'audit-mismatch' | 'upgraded' | null> {
  const rows = read?.events ?? (await versionEvents(db, change.id));
  const isSigned = rows.every(await authenticityCheck(db, keys, rows[0]?.pointer ?? null));
  if (!isSigned || !hasEveryVersion(rows, change) || !coversVerdicts(rows, change)) {
    return 'audit-mismatch';
  }
  const bodies = rows.map((row) => readEventBody(row).body);
  if (bodies.some(({ altered }) => altered === true)) return 'audit-mismatch';
  if (bodies.some(({ record }) => record === undefined)) return 'upgraded';
  // The last event is that of the stored version.
  const isSame =
    planDigest(change) === change.digest &&
    bodies.at(-1)?.record === (read ? hashOfRecord(read.record) : await recordHash(db, change.id));
  return isSame ? null : 'audit-mismatch';
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
  const isRequested = isInherited(first?.kind) || first?.by === change.requester;
  const sameDigest = events.every(({ digest }) => digest === change.digest);
  return isRequested && sameDigest && change.approvals.every(({ by }) => events.some(approves(by)));
}

/** A revert or the run of a schedule: its first event lists the approvers of the earlier change. */
function isInherited(kind: Json | undefined): boolean {
  return kind === 'planned-return' || kind === 'scheduled';
}

function approves(user: string) {
  return ({ kind, by, approvers }: JsonObject): boolean => {
    if (kind === 'approved') return by === user;
    return isInherited(kind) && Array.isArray(approvers) && approvers.includes(user);
  };
}
