import { type SqlBool, sql } from 'kysely';
import { z } from 'zod';
import type { UserId } from '../../domain/change.ts';
import type { AuditEventTable, Db, Tx } from '../../storage/old/schema.ts';
import { appendEvent } from './append.ts';
import { readEventBody } from './chain.ts';
import { Gap, gapId } from './gap.ts';
import { authenticityCheck } from './key-eras.ts';
import { type AuditKey, currentKey } from './key-ring.ts';

const REQUESTED = 'trail-acceptance-requested';
const ACCEPTED = 'trail-accepted';

const User = z.string().transform((id) => id as UserId);
const Requested = z.object({ by: User, gap: Gap });
const Accepted = z.object({ operators: z.array(User), gap: Gap });

export interface AcceptedGap {
  readonly gap: Gap;
  readonly operators: readonly UserId[];
  /** The number of the event that accepts it. */
  readonly seq: number;
}

interface GapPress {
  readonly gap: Gap;
  /** What is wrong, as a sentence. */
  readonly problem: string;
  readonly by: UserId;
  readonly at: Date;
}

/** Records that one operator accepts a gap. It has no effect until a second one does. */
export async function recordAcceptanceRequest(
  tx: Tx,
  key: AuditKey,
  { gap, problem, by, at }: GapPress,
): Promise<void> {
  const did = `accepted the gap at event ${gap.first}, as the first operator`;
  await appendEvent(tx, key, { kind: REQUESTED, at, body: { by, did, problem, gap } });
}

/** Records that two operators accept a gap, which verification then passes. Returns its number. */
export async function recordAcceptance(
  tx: Tx,
  key: AuditKey,
  { gap, problem, by, at, first }: GapPress & { readonly first: UserId },
): Promise<number> {
  const did = `accepted the gap at event ${gap.first}, as the second operator`;
  const body = { by, did, operators: [first, by], problem, gap };
  return (await appendEvent(tx, key, { kind: ACCEPTED, at, body })).seq;
}

/** Returns the operators who accepted exactly this gap, the last one first. */
export async function acceptanceRequests(
  db: Db,
  keys: AuditKey,
  gap: Gap,
): Promise<readonly UserId[]> {
  const rows = (await signedRows(db, keys)).filter(({ kind }) => kind === REQUESTED);
  const found = rows.flatMap((row) => Requested.safeParse(readEventBody(row).body).data ?? []);
  const own = found.filter((one) => gapId(one.gap) === gapId(gap)).map(({ by }) => by);
  return [...new Set(own.toReversed())];
}

/**
 * Returns the gaps that two operators accepted, the oldest first. Only events count that are signed as
 * they are; none without a key.
 */
export async function acceptedGaps(db: Db, keys: AuditKey): Promise<readonly AcceptedGap[]> {
  const rows = (await signedRows(db, keys)).filter(({ kind }) => kind === ACCEPTED);
  return rows.flatMap((row) => {
    const { data } = Accepted.safeParse(readEventBody(row).body);
    return data ? [{ ...data, seq: row.seq }] : [];
  });
}

async function signedRows(db: Db, keys: AuditKey): Promise<readonly AuditEventTable[]> {
  if (!currentKey(keys)) return [];
  // Written as in the index `audit_event_acceptances`: SQLite uses such an index for the same text only.
  const rows = await db
    .selectFrom('audit_event')
    .selectAll()
    .where(sql<SqlBool>`kind in ('trail-acceptance-requested', 'trail-accepted')`)
    .orderBy('seq')
    .execute();
  return rows.filter(await authenticityCheck(db, keys));
}
