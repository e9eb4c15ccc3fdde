import type { EventOf, Recorded, StreamName } from '../domain/log-events.ts';
import { reading, type StoreReader, sql } from '../storage/index.ts';
import {
  Damaged,
  type EventRow,
  eventHash,
  knowledgeOf,
  refuseBody,
  verifySignature,
} from './chain.ts';
import { eventRows, follow, head, type Log, noticingDamage, recordedEvents } from './log.ts';

/** An event with the stream to which it belongs. */
export interface LoggedEvent {
  readonly stream: StreamName;
  readonly event: Recorded<EventOf<StreamName>>;
}

interface Page {
  /** Only events before this number; null: up to the end. */
  readonly before: number | null;
  /** Only events before the first one of this time or later; null: up to the end. */
  readonly until: Date | null;
  readonly limit: number;
}

/**
 * Returns events of all streams, the newest first, and the number before which the next page begins; null: there are
 * no older ones. Events are verified as a part of the chain. Those whose bodies were pruned are left out.
 */
export async function eventsBefore(
  log: Log,
  { before, until, limit }: Page,
): Promise<{ readonly events: readonly LoggedEvent[]; readonly next: number | null }> {
  await follow(log);
  const { end, rows } = await reading(log.store, async (reader) => {
    const first = until && (await firstSince(reader, until));
    const end = Math.min(...[before, first, head(log).seq + 1].filter((each) => each !== null));
    const older = sql`where seq < ${end} order by seq desc limit ${limit}`;
    return { end, rows: await eventRows(reader, older) };
  });
  await noticingDamage(log, async () => verifyRun(log, rows, end));
  const last = rows.at(-1);
  const events = rows.flatMap((row): readonly LoggedEvent[] => {
    if (row.body === null) return [];
    // Only what `append` stored passes the verification, and `append` checks the names of streams.
    const stream = row.stream as StreamName;
    return recordedEvents(stream, [row]).map((event) => ({ stream, event }));
  });
  return { events, next: last && last.seq > log.memory.chain.first ? last.seq : null };
}

async function firstSince(reader: StoreReader, at: Date): Promise<number | null> {
  const { rows } = await sql<{ seq: number | null }>`select min(seq) as seq from event
    where at >= ${at.getTime()}`.execute(reader);
  return rows[0]?.seq ?? null;
}

/** One signature, that of the newest row, covers all rows before it. */
function verifyRun(log: Log, rows: readonly EventRow[], end: number): void {
  const knowledge = knowledgeOf(log.memory.chain);
  const [newest] = rows;
  if (!newest) return;
  verifySignature(knowledge, newest);
  let expected: Pick<EventRow, 'seq' | 'hash'> = { seq: end - 1, hash: newest.hash };
  for (const row of rows) {
    const { seq, stream, version } = row;
    if (seq !== expected.seq) throw new Damaged(expected.seq, 'it is missing');
    if (eventHash(row) !== expected.hash) throw new Damaged(seq, 'it was modified');
    refuseBody(row, version <= knowledge.prunedUpTo(stream));
    expected = { seq: seq - 1, hash: row.prev };
  }
}
