import { createHash } from 'node:crypto';
import type { Change, ChangeId, JsonObject } from '../../changes/change.ts';
import { canonical } from '../../changes/plan-digest.ts';
import type { ApprovalTable, ChangeTable, Db } from '../tables/schema.ts';
import { readEventBody } from './chain.ts';

/**
 * Returns the SHA-256 hash over the stored row of a change and its verdicts, for the audit event of
 * each version. It covers every column except those of the card and of the planned revert, which are
 * updated without a new version and only say what was posted or planned already.
 */
export async function recordHash(db: Db, id: ChangeId): Promise<string> {
  const rows = await db
    .selectFrom('change')
    .leftJoin('approval as verdict', 'verdict.change_id', 'change.id')
    .where('change.id', '=', id)
    .selectAll('change')
    .select(['verdict.person', 'verdict.decision', 'verdict.source'])
    .select(['verdict.digest as verdict_digest', 'verdict.at as verdict_at'])
    .orderBy('verdict.person')
    .execute();
  const [first] = rows;
  if (!first) throw new Error(`There is no change ${id}`);
  const { person, decision, source, verdict_digest, verdict_at, ...row } = first;
  return hashOfRecord(row, rows.flatMap(verdictOf));
}

interface JoinedVerdict {
  readonly id: ChangeId;
  readonly person: ApprovalTable['person'] | null;
  readonly decision: ApprovalTable['decision'] | null;
  readonly source: string | null;
  readonly verdict_digest: string | null;
  readonly verdict_at: string | null;
}

function verdictOf(row: JoinedVerdict): ApprovalTable[] {
  const { id: change_id, person, decision, source, verdict_digest: digest, verdict_at: at } = row;
  if (person === null || decision === null || source === null) return [];
  if (digest === null || at === null) return [];
  return [{ change_id, person, decision, digest, at, source }];
}

/** The verdicts are ordered by person. */
export function hashOfRecord(row: ChangeTable, verdicts: readonly ApprovalTable[]): string {
  const { card_channel, card_ts, card_version, revert_planned_at, ...columns } = row;
  // Without null, so that a column that a later release adds keeps the hash of earlier rows. Its
  // migration must not fill it.
  const known = Object.entries(columns).filter(([, value]) => value !== null);
  const change = Object.fromEntries(known);
  const record = { change, verdicts: verdicts.map((verdict) => ({ ...verdict })) };
  return createHash('sha256').update(canonical(record)).digest('hex');
}

/** `unrecorded`: release 1.0 wrote the event, without a hash of the row. */
type RecordState = 'intact' | 'altered' | 'unrecorded';

/** Compares the stored row with the audit event of its version. Does not verify the event. */
export async function recordState(db: Db, { id, version }: Change): Promise<RecordState> {
  const event = await db
    .selectFrom('audit_event')
    .selectAll()
    .where('change_id', '=', id)
    .where('version', '=', version)
    .executeTakeFirst();
  if (!event) return 'altered';
  const { altered, record } = readEventBody(event).body;
  if (altered === true) return 'altered';
  if (record === undefined) return 'unrecorded';
  return record === (await recordHash(db, id)) ? 'intact' : 'altered';
}

/**
 * Returns what the event of the next version records about the row. A version that follows a
 * modified row is marked, so that it cannot make the modification look recorded.
 */
export async function recordFacts(db: Db, id: ChangeId, before: RecordState): Promise<JsonObject> {
  if (before === 'altered') return { altered: true };
  return before === 'intact' ? { record: await recordHash(db, id) } : {};
}
