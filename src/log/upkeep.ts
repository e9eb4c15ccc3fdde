import { DAY_MS } from '../base/time.ts';
import { endsStream } from '../domain/log-events.ts';
import {
  addJobs,
  type Job,
  lockedTransaction,
  reading,
  renewEventTable,
  type Store,
  type StoreReader,
  type StoreTx,
  sql,
} from '../storage/index.ts';
import {
  chapterRow,
  Damaged,
  type End,
  type EventRow,
  knowledgeOf,
  refuseBody,
  WentBack,
} from './chain.ts';
import { type WriteLine, writeSigned } from './evidence.ts';
import { foreignLog, isSignedBy, KeyProblem, type LogKeys } from './keys.ts';
import {
  add,
  eventRows,
  insert,
  type LockedLog,
  type Log,
  noticingDamage,
  readChain,
  rowsFrom,
  showIfChange,
  underLock,
  wentBack,
} from './log.ts';
import { deleteViews } from './views.ts';

export { hasEvents, withoutCard } from './changes.ts';
export { follow } from './log.ts';

/** When the last event was appended, without what a process records about itself at its start; 0 without events. */
export async function lastEventAt({ store }: Pick<Log, 'store'>): Promise<number> {
  const { rows } = await reading(store, (reader) =>
    sql<{ at: number }>`select at from event
      where not (stream >= 'installation' and stream < 'installation0')
      order by seq desc limit 1`.execute(reader),
  );
  return rows[0]?.at ?? 0;
}

export type LogCheck =
  | { readonly ok: true; readonly end: End }
  | { readonly ok: false; readonly problem: Damaged | WentBack | KeyProblem };

/**
 * Verifies the whole log with all bodies, and that it contains what this process knows. After a damage, only this lets
 * the process append again.
 */
export async function verifyAll(log: Log): Promise<LogCheck> {
  const { memory } = log;
  const known = memory.chain.end;
  let isKnownThere = false;
  try {
    const chain = await noticingDamage(log, () =>
      readWhole(log, ({ hash }) => {
        isKnownThere ||= hash === known.hash;
      }),
    );
    if (!isKnownThere && chain.first <= known.seq) throw wentBack(known);
    memory.damage = null;
    return { ok: true, end: chain.end };
  } catch (problem) {
    const isFinding =
      problem instanceof Damaged || problem instanceof WentBack || problem instanceof KeyProblem;
    if (!isFinding) throw problem;
    return { ok: false, problem };
  }
}

/** A body may be null only where a later event says that it was pruned. */
async function readWhole(
  log: Pick<Log, 'store' | 'keys'>,
  see: (row: EventRow) => void = () => undefined,
) {
  const withoutBody: EventRow[] = [];
  const chain = await readChain(log, (rows) => {
    for (const row of rows) {
      if (row.body === null) withoutBody.push(row);
      else refuseBody(row, false);
      see(row);
    }
  });
  const { prunedUpTo } = knowledgeOf(chain);
  for (const row of withoutBody) refuseBody(row, row.version <= prunedUpTo(row.stream));
  return chain;
}

/** Longer than anything is due after the end of its subject: a revert waits for 14 days. */
const DUE_WITHIN_MS = 31 * DAY_MS;

/** A subject with something that may be due. */
export interface RecentStream {
  readonly stream: string;
  /** Null: it is open. */
  readonly endedAt: number | null;
}

/**
 * Deletes all views and jobs and makes them again from the log. `jobsFor` returns what is due, computed from the log
 * alone. Nothing is appended meanwhile, which takes minutes for a log of a million events.
 */
export async function rebuild(
  log: Log,
  jobsFor: (locked: LockedLog, streams: readonly RecentStream[]) => Promise<readonly Job[]>,
): Promise<void> {
  await underLock(log, async ({ tx, locked, streamOf }) => {
    await deleteViews(tx);
    const last = await lastEvents(tx);
    for (const { stream } of last) {
      if (stream.startsWith('change/')) await showIfChange(tx, stream, await streamOf(stream));
    }
    const recent = last
      .map(({ stream, type, at }) => ({ stream, endedAt: endsStream(stream, type) ? at : null }))
      .filter(({ endedAt }) => endedAt === null || locked.at - endedAt < DUE_WITHIN_MS);
    const jobs = await jobsFor(locked, recent);
    await addJobs(tx, ...jobs);
    // They may have run before, so that they look for their messages first.
    await sql`update job set attempts = 1`.execute(tx);
  });
}

type LastEvent = Pick<EventRow, 'stream' | 'version' | 'type' | 'at' | 'hash'>;

async function lastEvents(reader: StoreReader): Promise<readonly LastEvent[]> {
  const { rows } = await sql<LastEvent>`select e.stream, e.version, e.type, e.at, e.hash
    from event e join (select stream, max(version) as version from event group by stream) last
      on last.stream = e.stream and last.version = e.version
    order by e.stream`.execute(reader);
  return rows;
}

/** One event names so many streams at most, so that its body stays small. */
const MOST_PRUNED = 1_000;

interface Pruning {
  /** Streams are pruned that ended before this time. */
  readonly before: number;
  /** The SHA-256 of the export that has the bodies, as `exportLog` returns it. */
  readonly export: string;
}

/**
 * Sets the bodies of ended streams to null, up to a thousand streams, and appends the event that allows it; hashes and
 * signatures stay, so that the log still verifies. Returns how many streams were pruned.
 */
export async function prune(log: Log, { before, export: digest }: Pruning): Promise<number> {
  return underLock(log, async (under) => {
    const { headOf, prunedUpTo } = knowledgeOf(under.extension);
    const ended = (await lastEvents(under.tx))
      .filter(({ stream, type, at }) => at < before && endsStream(stream, type))
      .filter(({ stream, version }) => prunedUpTo(stream) < version)
      // What stands outside of the chain is no subject, whatever its name.
      .filter(({ stream }) => headOf(stream) !== null)
      .slice(0, MOST_PRUNED);
    if (ended.length === 0) return 0;
    // A modified body must be noticed before it is gone.
    for (const { stream } of ended) await under.streamOf(stream);
    const streams = ended.map(({ stream, version }) => ({ stream, upTo: version }));
    const event = { type: 'pruned', streams, export: digest } as const;
    const events = [{ stream: 'installation/pruned', event } as const];
    await add(under, { events, result: null }, log.keys.current);
    for (const { stream, upTo } of streams) {
      await sql`update event set body = null
        where stream = ${stream} and version <= ${upTo}`.execute(under.tx);
    }
    return streams.length;
  });
}

export interface ClosedLog {
  readonly from: End;
  readonly damage: string;
  /** The streams that were open: their changes, freezes, schedules and locks have ended. */
  readonly ended: readonly string[];
}

/**
 * Ends a damaged log and begins a new chapter, whose first event names the old end and the damage. The old rows are
 * written as an export and stay in a table of their own, without authority. It accepts nothing: everything that was
 * open has ended. Throws if the log is intact, and `KeyProblem` if it cannot be judged.
 */
export async function closeChapter(
  store: Store,
  keys: LogKeys,
  write: WriteLine,
): Promise<ClosedLog> {
  const damage = await damageOf(store, keys);
  return lockedTransaction(store, async (tx) => {
    await refuseOtherKey(tx, keys);
    const last = (await lastEvents(tx)).filter(({ stream, type }) => !endsStream(stream, type));
    let from: End = { seq: 0, hash: '' };
    const file = {
      format: 'signalbox closed log 1',
      header: { damage },
      rows: async (line: (row: EventRow) => Promise<void>) => {
        from = await eachRow(tx, line);
      },
      key: keys.current,
    };
    const digest = await writeSigned(file, write);
    await renewEventTable(tx, store.engine, from.seq);
    const open = last.filter(({ stream }) => !/^(installation|target)(\/|$)/.test(stream));
    const ended = open.map(({ stream, version, hash }) => ({ stream, version, hash }));
    const body = JSON.stringify({ from, damage, export: digest, ended });
    const at = await store.clock(tx);
    const draft = { stream: 'installation', version: 1, type: 'chapter', at, body };
    await insert(tx, [chapterRow(from.seq, keys.current, draft)]);
    await deleteViews(tx);
    return { from, damage, ended: open.map(({ stream }) => stream) };
  });
}

async function damageOf(store: Store, keys: LogKeys): Promise<string> {
  try {
    await readWhole({ store, keys });
  } catch (error) {
    if (error instanceof Damaged) return error.message;
    throw error;
  }
  throw new Error('The log is intact, so it was not closed');
}

/** With another key, a healthy installation would lose its log to the new chapter. */
async function refuseOtherKey(reader: StoreReader, { current, previous }: LogKeys): Promise<void> {
  for (const { id, publicKey } of [current, ...previous]) {
    const rows = await eventRows(reader, sql`where key = ${id} order by seq desc limit 100`);
    if (rows.some(({ hash, signature }) => isSignedBy(publicKey, hash, signature))) return;
  }
  throw foreignLog();
}

async function eachRow(tx: StoreTx, take: (row: EventRow) => Promise<void>): Promise<End> {
  let end: End = { seq: 0, hash: '' };
  for (;;) {
    const rows = await rowsFrom(tx, end.seq + 1);
    for (const row of rows) {
      await take(row);
      end = { seq: row.seq, hash: row.hash };
    }
    if (rows.length === 0) return end;
  }
}
