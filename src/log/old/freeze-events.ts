import { type SqlBool, sql } from 'kysely';
import { z } from 'zod';
import type { ChangeId, UserId } from '../../domain/change.ts';
import { decode, JsonFields, StoredInstant, toText } from '../../storage/old/portable.ts';
import type { AuditEventTable, Db, Tx } from '../../storage/old/schema.ts';
import { acceptedGaps } from './accepted-gaps.ts';
import { appendEvent } from './append.ts';
import { isAuthentic, readEventBody } from './chain.ts';
import type { StoredFreeze } from './freezes.ts';
import { authenticityCheck } from './key-eras.ts';
import type { AuditKey } from './key-ring.ts';

const CREATED = 'freeze-created';
const LIFTED = 'freeze-lifted';

const Created = z.object({
  by: z.string().transform((id) => id as UserId),
  scope: JsonFields,
  reason: z.string(),
  from: StoredInstant,
  until: StoredInstant,
});

/** Records a new freeze with everything that a decision needs of it. */
export async function recordFreeze(
  tx: Tx,
  key: AuditKey,
  { id, scope, reason, createdBy: by, from, until }: StoredFreeze,
  at: Date,
): Promise<void> {
  const did = 'started the freeze of';
  const body = { by, did, scope, reason, from: toText(from), until: toText(until) };
  await appendEvent(tx, key, { kind: CREATED, changeId: id, at, body });
}

export async function recordFreezeLift(
  tx: Tx,
  key: AuditKey,
  { id, by, at }: { readonly id: ChangeId; readonly by: UserId; readonly at: Date },
): Promise<void> {
  await appendEvent(tx, key, {
    kind: LIFTED,
    changeId: id,
    at,
    body: { by, did: 'ended the freeze of' },
  });
}

export interface RecordedFreeze {
  readonly freeze: StoredFreeze;
  readonly lifted: boolean;
}

/**
 * Returns all freezes that the audit trail records. Throws where the event of a freeze was
 * modified, so that nothing is decided; two operators can accept it, and then it records nothing.
 * An attacker can insert events, but not sign a lift.
 */
export async function recordedFreezes(
  db: Db,
  key: AuditKey,
): Promise<ReadonlyMap<ChangeId, RecordedFreeze>> {
  return readFreezeEvents(db, key, await selectFreezeEvents(db).orderBy('seq').execute());
}

export function selectFreezeEvents(db: Db) {
  // Written as in the index `audit_event_freezes`: SQLite uses such an index for the same text only.
  const isFreeze = sql<SqlBool>`kind in ('freeze-created', 'freeze-lifted')`;
  return db.selectFrom('audit_event').selectAll().where(isFreeze);
}

/** Like `recordedFreezes`, from the events of all freezes in their order. */
export async function readFreezeEvents(
  db: Db,
  key: AuditKey,
  rows: readonly AuditEventTable[],
): Promise<ReadonlyMap<ChangeId, RecordedFreeze>> {
  if (rows.length === 0) return new Map();
  const isOwn = await authenticityCheck(db, key);
  const found = new Map<ChangeId, RecordedFreeze & { readonly signed: boolean }>();
  const isModified = (row: AuditEventTable) => !isOwn(row) && !isAuthentic(row, null);
  const accepted = rows.some(isModified) ? await acceptedGaps(db, key) : [];
  for (const row of rows) {
    const isAccepted = accepted.some(({ gap }) => row.seq >= gap.first && row.seq < gap.next);
    if (isAccepted && isModified(row)) continue;
    const id = row.change_id;
    if (id === null) throw modifiedFreeze(row);
    const signed = key !== null && isOwn(row);
    const known = found.get(id);
    if (row.kind === CREATED) {
      if (!known) found.set(id, { freeze: freezeFrom(row, id, signed), lifted: false, signed });
    } else if (known && (signed || (!known.signed && isAuthentic(row, null)))) {
      found.set(id, { ...known, lifted: true });
    }
  }
  return found;
}

function modifiedFreeze({ seq, change_id: id }: AuditEventTable): Error {
  const which = id === null ? 'a freeze' : `freeze ${id}`;
  return new Error(`Event ${seq} of the audit trail, which records ${which}, was modified`);
}

// Events from before the key was set are unsigned.
function freezeFrom(row: AuditEventTable, id: ChangeId, signed: boolean): StoredFreeze {
  if (!signed && !isAuthentic(row, null)) throw modifiedFreeze(row);
  const body = JSON.stringify(readEventBody(row).body);
  const { by: createdBy, ...freeze } = decode(Created, body, `audit event ${row.seq}`);
  return { id, createdBy, ...freeze };
}
