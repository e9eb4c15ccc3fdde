import { hash } from 'node:crypto';
import { cached } from '../../base/cache.ts';
import { canonical, type JsonObject } from '../../base/text.ts';
import type { Change, ChangeId } from '../../domain/change.ts';
import type { AuditEventTable, Db } from '../../storage/old/schema.ts';
import { readEventBody } from './chain.ts';
import {
  recordFrom,
  type StoredRecord,
  VERDICT_COLUMNS,
  type VerifiableChange,
} from './stored-record.ts';

/** Returns `hashOfRecord` of a change as it is stored. */
export async function recordHash(db: Db, id: ChangeId): Promise<string> {
  const rows = await selectRecord(db, id).execute();
  const [first] = rows;
  if (!first) throw new Error(`There is no change ${id}`);
  return hashOfRecord(recordFrom(first, rows));
}

function selectRecord(db: Db, id: ChangeId) {
  return db
    .selectFrom('change')
    .leftJoin('approval as verdict', 'verdict.change_id', 'change.id')
    .where('change.id', '=', id)
    .selectAll('change')
    .select(VERDICT_COLUMNS);
}

/**
 * Returns the SHA-256 hash over the stored row of a change and its verdicts, for the audit event of
 * each version. It covers every column except those of the card and of the planned revert, which are
 * updated without a new version and only say what was posted or planned already.
 */
export function hashOfRecord({ row, verdicts }: StoredRecord): string {
  const { card_channel, card_ts, card_version, revert_planned_at, ...columns } = row;
  // Without null, so that a column that a later release adds keeps the hash of earlier rows. Its
  // migration must not fill it.
  const known = Object.entries(columns).filter(([, value]) => value !== null);
  const change = Object.fromEntries(known);
  const ordered = verdicts.toSorted((a, b) => (a.person < b.person ? -1 : 1));
  return hashOf(JSON.stringify({ change, verdicts: ordered }));
}

const HASHES_KEPT = 200;

/** A record is hashed when it is stored, and again with each read. */
const hashOf = cached(HASHES_KEPT, (json: string) => hash('sha256', canonical(JSON.parse(json))));

/** `unrecorded`: release 1.0 wrote the event, without a hash of the row. */
type RecordState = 'intact' | 'altered' | 'unrecorded';

export interface RecordCheck {
  readonly state: RecordState;
  /** Null: there is no such change. */
  readonly record: StoredRecord | null;
}

/** Compares the stored row with the audit event of its version. Does not verify the event. */
export async function checkRecord(db: Db, { id, version }: Change): Promise<RecordCheck> {
  const rows = await selectRecord(db, id)
    .leftJoin('audit_event as event', (join) =>
      join.onRef('event.change_id', '=', 'change.id').on('event.version', '=', version),
    )
    .select(['event.seq', 'event.body'])
    .execute();
  const [joined] = rows;
  if (!joined) return { state: 'altered', record: null };
  const { seq, body, ...first } = joined;
  const record = recordFrom(first, rows);
  const state =
    seq === null || body === null ? 'altered' : stateOf(record, { seq, body, change_id: id });
  return { state, record };
}

/** Like `checkRecord`, from what was read together with the change. */
export function checkReadRecord({ change, record, events }: VerifiableChange): RecordCheck {
  const event = events.find(({ version }) => version === change.version);
  return { state: event ? stateOf(record, event) : 'altered', record };
}

type EventText = Pick<AuditEventTable, 'seq' | 'change_id' | 'body'>;

function stateOf(stored: StoredRecord, event: EventText): RecordState {
  const { altered, record } = readEventBody(event).body;
  if (altered === true) return 'altered';
  if (record === undefined) return 'unrecorded';
  return record === hashOfRecord(stored) ? 'intact' : 'altered';
}

/**
 * Returns what the event of the next version records about the row that `updateChange` stored. A
 * version that follows a modified row is marked, so that it cannot make the modification look recorded.
 */
export function recordFacts({ state, record }: RecordCheck, moved: StoredRecord): JsonObject {
  if (state === 'altered' || record === null) return { altered: true };
  if (state === 'unrecorded') return {};
  const verdicts = [...record.verdicts, ...moved.verdicts];
  return { record: hashOfRecord({ row: moved.row, verdicts }) };
}
