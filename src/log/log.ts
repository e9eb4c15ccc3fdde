import { Cache } from '../base/cache.ts';
import type { Change, ChangeId } from '../domain/change.ts';
import { foldOf } from '../domain/fold.ts';
import {
  type EventOf,
  type Kind,
  type NewEvent,
  parseEvent,
  type Recorded,
  type StreamName,
} from '../domain/log-events.ts';
import {
  addJobs,
  type Job,
  lockedTransaction,
  reading,
  type Store,
  type StoreReader,
  type StoreTx,
  sql,
} from '../storage/index.ts';
import {
  absorb,
  addRow,
  bodyFields,
  type Chain,
  Damaged,
  type End,
  type EventRow,
  type Extension,
  emptyChain,
  eventHash,
  extend,
  GUIDING_TYPES,
  groupOf,
  type Knowledge,
  keyChange,
  keyInForce,
  knowledgeOf,
  refuseBody,
  refuseForeign,
  rowAfter,
  type StreamHead,
  verifySignature,
  WentBack,
} from './chain.ts';
import { KeyProblem, type LogKeys, type SigningKey } from './keys.ts';
import { type ChangeQuery, queryChanges, showChange } from './views.ts';

/** Adds one event to a state; the state is null before the first one. Pure. */
export type Evolve<Name extends StreamName, S> = (
  state: S | null,
  event: Recorded<EventOf<Name>>,
) => S;

/** A subject of the log, folded from its verified events. */
export interface Loaded<S> {
  /** Null without events, and where the bodies were pruned. */
  readonly state: S | null;
  /** 0 without events. */
  readonly version: number;
  /** The hash of the last event, which the mark of a message names. */
  readonly hash: string | null;
  readonly isPruned: boolean;
}

/** Reads subjects. Each event is verified, and a stream that lost an event is an error, never a shorter stream. */
export interface Subjects {
  load<Name extends StreamName, S>(stream: Name, evolve: Evolve<Name, S>): Promise<Loaded<S>>;
  /** All streams directly under a name: `freeze`, or `press/7KQ2MX`. By the name of the stream. */
  loadAll<K extends Kind, S>(
    group: K | `${K}/${string}`,
    evolve: Evolve<`${K}/${string}`, S>,
  ): Promise<ReadonlyMap<string, Loaded<S>>>;
}

/** What this process knows. Only what the database has answered is known. */
interface Memory {
  chain: Chain;
  /** Why nothing is appended until `verifyAll` succeeds; null: the log is intact as far as this process knows. */
  damage: Damaged | null;
  /** Signatures that were verified, by the hash of their event. */
  readonly signatures: Cache<string, string>;
  restoring: Promise<readonly LostEvent[]> | null;
}

export interface Log extends Subjects {
  readonly store: Store;
  readonly keys: LogKeys;
  readonly memory: Memory;
}

const SIGNATURES = 100_000;

/**
 * Opens the log: follows it from its beginning, and replaces an earlier key by the current one, which only the bot
 * does. Throws `KeyProblem` where the log is signed with a key that this process does not have, and `Damaged`.
 */
export async function openLog(
  store: Store,
  keys: LogKeys,
  { replacesKey = true } = {},
): Promise<Log> {
  const log: Log = {
    store,
    keys,
    memory: {
      chain: emptyChain(keys),
      damage: null,
      signatures: new Cache(SIGNATURES),
      restoring: null,
    },
    load: async (stream, evolve) =>
      folded(streamFrom(stream, await verifiedRows(log, stream)), evolve),
    loadAll: async (group, evolve) => foldedAll(await byStreamUnder(log, group), evolve),
  };
  await follow(log);
  if (replacesKey) await rotateKey(log);
  return log;
}

/** Why this process may not append: its key is an older one, or the log is damaged; null if it may. */
export function appendProblem({ keys, memory }: Log): KeyProblem | Damaged | null {
  if (memory.damage) return memory.damage;
  const key = keyInForce(memory.chain);
  return key === null || key === keys.current.id ? null : otherKey(memory.chain, keys.current);
}

/** The key of this process is not the one that signs: it was replaced, or has not replaced the earlier one yet. */
function otherKey({ eras }: Pick<Chain, 'eras'>, current: SigningKey): KeyProblem {
  if (!eras.some(({ key }) => key === current.id)) {
    return new KeyProblem(
      'The log is still signed with an earlier key',
      'start the bot with the new key first',
    );
  }
  return new KeyProblem(
    'The key of this process was replaced by a newer one: it reads, and writes nothing',
    'start it with the current SIGNALBOX_KEY',
  );
}

/** The end of the log that this process knows. */
export function head({ memory }: Log): End {
  return memory.chain.end;
}

const BATCH = 2_000;

/** Bodies are read only where they say how to read other events. */
const HEADER = sql`seq, stream, version, type, at, body_hash, prev, hash, key, signature,
  case when type in (${sql.join([...GUIDING_TYPES])}) then body end as body`;

/** The rows that a condition and an order select, whole or with the columns that following needs. */
export async function eventRows(
  reader: StoreReader,
  which: ReturnType<typeof sql>,
  columns = sql`*`,
): Promise<readonly EventRow[]> {
  return (await sql<EventRow>`select ${columns} from event ${which}`.execute(reader)).rows;
}

export function rowsFrom(reader: StoreReader, seq: number, columns = sql`*`) {
  return eventRows(reader, sql`where seq >= ${seq} order by seq limit ${BATCH}`, columns);
}

/**
 * Verifies what is new since the end that this process knows. Throws `WentBack` where that end is gone, `Damaged`, or
 * `KeyProblem`. A chapter that another process began replaces what this process knows.
 */
export async function follow(log: Log): Promise<void> {
  await noticingDamage(log, async () => {
    const { memory, store } = log;
    if (memory.chain.end.seq === 0) memory.chain = await readChain(log);
    for (;;) {
      const { chain } = memory;
      const { end } = chain;
      const rows = await reading(store, (reader) => rowsFrom(reader, end.seq, HEADER));
      const next = afterEnd(end, rows);
      if (next === 'chapter') {
        const renewed = await readChain(log);
        if (renewed.first <= end.seq) throw wentBack(end);
        memory.chain = renewed;
        return;
      }
      absorb(extended(chain, next));
      if (rows.length < BATCH) return;
    }
  });
}

/**
 * Follows the whole log, without what this process knows. With `take`, bodies are read as well, and `take` gets the
 * verified rows in their order.
 */
export async function readChain(
  { store, keys }: Pick<Log, 'store' | 'keys'>,
  take?: (rows: readonly EventRow[]) => Promise<void> | void,
): Promise<Chain> {
  const chain = emptyChain(keys);
  for (let from = 1; ; from = chain.end.seq + 1) {
    const columns = take ? undefined : HEADER;
    const rows = await reading(store, (reader) => rowsFrom(reader, from, columns));
    absorb(extend(chain, rows));
    await take?.(rows);
    if (rows.length < BATCH) break;
  }
  refuseForeign(knowledgeOf(chain));
  return chain;
}

/** Another reader of this process may have followed while the rows were read. */
function extended(chain: Chain, rows: readonly EventRow[]): Extension {
  const { seq: known } = chain.end;
  return extend(
    chain,
    rows.filter(({ seq }) => seq > known),
  );
}

/** The rows after the known end, of rows that begin with it. */
function afterEnd(end: End, rows: readonly EventRow[]): readonly EventRow[] | 'chapter' {
  if (end.seq === 0) return rows;
  const [first, ...others] = rows;
  if (first && eventHash(first) !== first.hash) throw new Damaged(first.seq, 'it was modified');
  if (first?.seq === end.seq && first.hash === end.hash) return others;
  if (first && first.seq > end.seq) {
    if (first.type === 'chapter') return 'chapter';
    throw new Damaged(end.seq, 'it is missing');
  }
  throw wentBack(end);
}

export function wentBack({ seq }: End): WentBack {
  return new WentBack(`The database does not contain event ${seq}, which this process knows`);
}

/** The log was closed, and a new chapter began. */
class ChapterBegan extends Error {}

/** `follow` in a transaction: what it reads is known after the commit. */
async function followIn({ memory }: Log, tx: StoreTx): Promise<Extension> {
  const { chain } = memory;
  const { end } = chain;
  const rows = await eventRows(tx, sql`where seq >= ${end.seq} order by seq`, HEADER);
  const next = afterEnd(end, rows);
  if (next === 'chapter') throw new ChapterBegan();
  return extended(chain, next);
}

/** Runs `work`; a damage that it finds stops all appends of this process. */
export async function noticingDamage<T>({ memory }: Log, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof Damaged) memory.damage ??= error;
    throw error;
  }
}

function rowsOf(reader: StoreReader, stream: string): Promise<readonly EventRow[]> {
  return eventRows(reader, sql`where stream = ${stream} order by version`);
}

/** `0` is the character after `/`. */
async function rowsUnder(reader: StoreReader, group: string): Promise<readonly EventRow[]> {
  const [from, until] = [`${group}/`, `${group}0`];
  const under = sql`where stream > ${from} and stream < ${until} order by stream, version`;
  return (await eventRows(reader, under)).filter(({ stream }) => groupOf(stream) === group);
}

/**
 * Verifies the events of one stream: hash, body and signature of each, their numbers, and that the last event that
 * this process knows is among them. A stream without its end would be a perfect stream.
 */
function verified(
  { memory }: Log,
  stream: string,
  rows: readonly EventRow[],
  known: StreamHead | null,
  knowledge = knowledgeOf(memory.chain),
): readonly EventRow[] {
  for (const [index, row] of rows.entries()) {
    const { seq } = row;
    if (row.version !== index + 1) throw new Damaged(seq, `${stream} has no version ${index + 1}`);
    if (eventHash(row) !== row.hash) throw new Damaged(seq, 'it was modified');
    refuseBody(row, row.version <= knowledge.prunedUpTo(stream));
    if (row.key !== keyInForce(knowledge, seq)) throw new Damaged(seq, 'its key was not in force');
    if (memory.signatures.get(row.hash) === row.signature) continue;
    verifySignature(knowledge, row);
    memory.signatures.set(row.hash, row.signature);
  }
  if (known && rows[known.version - 1]?.hash !== known.hash) {
    throw new Damaged(rows.at(-1)?.seq ?? 0, `${stream} lost its version ${known.version}`);
  }
  return rows;
}

/** The verified rows of a stream, and its events, which are read from them once. */
interface Stream {
  readonly rows: readonly EventRow[];
  readonly events: readonly Recorded<EventOf<StreamName>>[];
}

function streamFrom(
  name: string,
  rows: readonly EventRow[],
  read = () => recordedEvents(name as StreamName, rows),
): Stream {
  let events: Stream['events'] | null = null;
  return {
    rows,
    get events() {
      events ??= read();
      return events;
    },
  };
}

function folded<Name extends StreamName, S>(stream: Stream, evolve: Evolve<Name, S>): Loaded<S> {
  const { rows } = stream;
  const last = rows.at(-1);
  const isPruned = rows.some(({ body }) => body === null);
  const loaded = { version: last?.version ?? 0, hash: last?.hash ?? null, isPruned };
  if (isPruned || !last) return { ...loaded, state: null };
  // Events of the name with which the stream was read.
  const events = stream.events as readonly Recorded<EventOf<Name>>[];
  return { ...loaded, state: events.reduce(evolve, null as S | null) };
}

/** The events of rows that have their bodies. */
export function recordedEvents<Name extends StreamName>(
  stream: Name,
  rows: readonly EventRow[],
): readonly Recorded<EventOf<Name>>[] {
  return rows.map((row) => {
    const { seq, version, type, at, hash } = row;
    const event = parseEvent(stream, bodyFields(row));
    if (event) return { ...event, seq, version, at, hash };
    throw new Error(
      `Event ${seq} of the log (${type} of ${stream}) is unknown to this release. Run the newest one.`,
    );
  });
}

/** The rows of each stream, verified. A known stream without rows has lost them. */
function verifiedByStream(
  log: Log,
  rows: readonly EventRow[],
  known: ReadonlyMap<string, StreamHead>,
  knowledge: Knowledge,
): ReadonlyMap<string, readonly EventRow[]> {
  const found = Map.groupBy(rows, ({ stream }) => stream);
  const all = new Set([...found.keys(), ...known.keys()]);
  const verify = (stream: string) =>
    verified(log, stream, found.get(stream) ?? [], known.get(stream) ?? null, knowledge);
  return new Map([...all].map((stream) => [stream, verify(stream)]));
}

function foldedAll<Name extends StreamName, S>(
  byStream: ReadonlyMap<string, readonly EventRow[]>,
  evolve: Evolve<Name, S>,
): ReadonlyMap<string, Loaded<S>> {
  return new Map(
    [...byStream].map(([name, rows]) => [name, folded(streamFrom(name, rows), evolve)]),
  );
}

/**
 * Outside the lock, a stream may be newer than what this process has followed: a key was replaced, or bodies were
 * pruned. What still cannot be verified after following is damaged.
 */
async function loadOutside<T>(log: Log, load: (reader: StoreReader) => Promise<T>): Promise<T> {
  try {
    return await reading(log.store, load);
  } catch (error) {
    if (!(error instanceof Damaged)) throw error;
  }
  await follow(log);
  return noticingDamage(log, () => reading(log.store, load));
}

/** The events of one stream, verified. */
export function verifiedRows(log: Log, stream: string): Promise<readonly EventRow[]> {
  return loadOutside(log, async (reader) => {
    // Another reader of this process may learn a newer event while this one reads.
    const known = knowledgeOf(log.memory.chain).headOf(stream);
    return verified(log, stream, await rowsOf(reader, stream), known);
  });
}

/** The events of all streams directly under a name, verified, by the name of the stream. */
export function byStreamUnder(
  log: Log,
  group: string,
): Promise<ReadonlyMap<string, readonly EventRow[]>> {
  return loadOutside(log, async (reader) => {
    const knowledge = knowledgeOf(log.memory.chain);
    const heads = knowledge.headsUnder(group);
    return verifiedByStream(log, await rowsUnder(reader, group), heads, knowledge);
  });
}

/** What to append, decided under the lock. */
export interface NewEvents<T> {
  readonly events: readonly NewEvent[];
  readonly jobs?: readonly Job[];
  /** Writes caches in the same transaction. Nothing is decided from them. */
  readonly cache?: (tx: StoreTx) => Promise<void>;
  readonly result: T;
}

export interface Appended<T> {
  readonly result: T;
  readonly events: readonly (End & { readonly stream: string; readonly version: number })[];
}

/** The log under its lock: nothing is appended by anyone else before the transaction ends. */
export interface LockedLog extends Subjects {
  /** The clock of the database, which the events get. */
  readonly at: number;
  readonly end: End;
  /** The ids of changes of the view, the newest first, with all that was appended before. For limits, and to find. */
  readonly find: (query: ChangeQuery, limit: number) => Promise<readonly ChangeId[]>;
}

/**
 * Appends events and jobs in one transaction, or nothing: takes the lock, follows the log, and lets `decide` load
 * subjects and return what to append. `decide` has gathered its facts before, and waits for nothing but this log.
 * What is appended is known to this process once the commit was answered. If it rejects, the events may still be in
 * the log: nothing may be sent. Throws `KeyProblem` and `Damaged`, also for an earlier damage.
 */
export async function append<T>(
  log: Log,
  decide: (locked: LockedLog) => Promise<NewEvents<T>>,
): Promise<Appended<T>> {
  return underLock(log, async (under) => add(under, await decide(under.locked), log.keys.current));
}

/** The log under its lock, with the transaction that holds it. */
export interface UnderLock {
  readonly tx: StoreTx;
  readonly extension: Extension;
  readonly locked: LockedLog;
  /** A stream, verified, with what was appended to it in this transaction. */
  readonly streamOf: (name: string) => Promise<Stream>;
  readonly streams: Map<string, Stream>;
}

/** Runs `work` under the lock, after following the log. What it read or appended is known after the commit. */
export async function underLock<T>(
  log: Log,
  work: (under: UnderLock) => Promise<T>,
  key = log.keys.current,
): Promise<T> {
  try {
    return await underLockOnce(log, work, key);
  } catch (error) {
    if (!(error instanceof ChapterBegan)) throw error;
    await follow(log);
    return underLockOnce(log, work, key);
  }
}

async function underLockOnce<T>(
  log: Log,
  work: (under: UnderLock) => Promise<T>,
  key: SigningKey,
): Promise<T> {
  const { memory, store } = log;
  return noticingDamage(log, async () => {
    if (memory.damage) throw memory.damage;
    const { extension, done } = await lockedTransaction(store, async (tx) => {
      const extension = await followIn(log, tx);
      if ((keyInForce(extension) ?? key.id) !== key.id) return { extension, done: null };
      return { extension, done: { result: await work(await lockedLog(log, tx, extension)) } };
    });
    absorb(extension);
    // From now on, this process reports that it may append nothing.
    if (!done) throw otherKey(extension, key);
    return done.result;
  });
}

async function lockedLog(log: Log, tx: StoreTx, extension: Extension): Promise<UnderLock> {
  const streams = new Map<string, Stream>();
  const streamOf = async (name: string) => {
    const knowledge = knowledgeOf(extension);
    const head = knowledge.headOf(name);
    // The log was followed to its end: what has no last event has none.
    const read = async () => (head ? rowsOf(tx, name) : []);
    const stream =
      streams.get(name) ?? streamFrom(name, verified(log, name, await read(), head, knowledge));
    streams.set(name, stream);
    return stream;
  };
  const locked: LockedLog = {
    at: await log.store.clock(tx),
    end: extension.end,
    find: (query, limit) => queryChanges(tx, query, limit),
    load: async (stream, evolve) => folded(await streamOf(stream), evolve),
    loadAll: async (group, evolve) => {
      const knowledge = knowledgeOf(extension);
      const heads = knowledge.headsUnder(group);
      const rows = heads.size > 0 ? await rowsUnder(tx, group) : [];
      return foldedAll(verifiedByStream(log, rows, heads, knowledge), evolve);
    },
  };
  return { tx, extension, locked, streamOf, streams };
}

/** Appends under the lock. Nothing of the log may be loaded after it: the transaction may still be rolled back. */
export async function add<T>(
  { tx, extension, locked, streamOf, streams }: UnderLock,
  { events, jobs = [], cache, result }: NewEvents<T>,
  signer: SigningKey,
): Promise<Appended<T>> {
  const added: EventRow[] = [];
  for (const { stream, event } of events) {
    const before = await streamOf(stream);
    const next = checked(stream, event);
    const { type, ...fields } = next;
    const draft = { stream, version: before.rows.length + 1, type, body: JSON.stringify(fields) };
    const row = rowAfter(extension.end, signer, { ...draft, at: locked.at });
    addRow(extension, row);
    const { seq, version, at, hash } = row;
    const read = () => [...before.events, { ...next, seq, version, at, hash }];
    streams.set(stream, streamFrom(stream, [...before.rows, row], read));
    added.push(row);
  }
  await insert(tx, added);
  for (const name of new Set(added.map(({ stream }) => stream))) {
    await showIfChange(tx, name, await streamOf(name));
  }
  await addJobs(tx, ...jobs);
  await cache?.(tx);
  return {
    result,
    events: added.map(({ seq, hash, stream, version }) => ({ seq, hash, stream, version })),
  };
}

/** Without line breaks and spaces, as marks and the files of evidence need it. */
const STREAM = /^[a-z]+(\/[^\s/]+)*$/;

/** The event with the fields of its type alone, so that no other field is ever stored. */
function checked(stream: StreamName, event: NewEvent['event']): NewEvent['event'] {
  const parsed = STREAM.test(stream) ? parseEvent(stream, JSON.parse(JSON.stringify(event))) : null;
  if (!parsed) throw new TypeError(`${event.type} is no event of the stream ${stream}`);
  return parsed;
}

export async function insert(tx: StoreTx, rows: readonly EventRow[]): Promise<void> {
  if (rows.length === 0) return;
  const values = rows.map(
    (row) => sql`(${row.seq}, ${row.stream}, ${row.version}, ${row.type}, ${row.at}, ${row.body},
      ${row.body_hash}, ${row.prev}, ${row.hash}, ${row.key}, ${row.signature})`,
  );
  await sql`insert into event (seq, stream, version, type, at, body, body_hash, prev, hash, key, signature)
    values ${sql.join(values)}`.execute(tx);
}

/** Draws a change into the view of lists. */
export async function showIfChange(tx: StoreTx, name: string, stream: Stream): Promise<void> {
  if (!name.startsWith('change/')) return;
  // The name of the stream was made from the id of the change.
  const fold = foldOf(name.slice('change/'.length) as ChangeId);
  const { state: change } = folded<`change/${string}`, Change>(stream, fold);
  const last = stream.rows.at(-1);
  if (change && last) await showChange(tx, change, last.at);
}

/** At the first start with a new key: the event is signed by the old key, and later ones by the new one. */
async function rotateKey(log: Log): Promise<void> {
  const { keys, memory } = log;
  const isNew = !memory.chain.eras.some(({ key }) => key === keys.current.id);
  const old = keys.previous.find(({ id }) => id === keyInForce(memory.chain));
  if (!isNew || !old) return;
  const change = (under: UnderLock) => {
    const event = keyChange(under.locked.end.hash, old, keys.current);
    return add(under, { events: [{ stream: 'installation', event }], result: null }, old);
  };
  try {
    await underLock(log, change, old);
  } catch (error) {
    // Another replica with the same keys was first.
    if (keyInForce(memory.chain) !== keys.current.id) throw error;
  }
}

/** An event that this process knows and the log has lost: its mark may still be shown in Slack. */
export interface LostEvent extends StreamHead {
  readonly stream: string;
}

/**
 * Continues a log that went back: `restored` names what is lost and answers its marks, and `decide` returns what
 * happens to the subjects that lost events, in the same transaction. Then this process knows what the log has now.
 * Returns what was lost; nothing if the log contains what this process knows.
 */
export async function recordRestore(...how: Parameters<typeof restore>) {
  const [{ memory }] = how;
  memory.restoring ??= restore(...how).finally(() => {
    memory.restoring = null;
  });
  return memory.restoring;
}

async function restore(
  log: Log,
  timeline: number | null,
  decide: (lost: readonly LostEvent[], locked: LockedLog) => Promise<readonly NewEvent[]>,
): Promise<readonly LostEvent[]> {
  const { memory, keys } = log;
  const known = memory.chain;
  const chain = await noticingDamage(log, () => readChain(log));
  const current: Log = { ...log, memory: { ...memory, chain } };
  const lost = await underLock(current, async (under) => {
    const lost = await lostEvents(under.tx, known, under.extension);
    if (lost.length === 0) return lost;
    const event = { type: 'restored', from: known.end, lost, timeline } as const;
    const events = [
      { stream: 'installation', event } as const,
      ...(await decide(lost, under.locked)),
    ];
    await add(under, { events, result: null }, keys.current);
    return lost;
  });
  memory.chain = current.memory.chain;
  return lost;
}

async function lostEvents(
  tx: StoreTx,
  known: Chain,
  current: Extension,
): Promise<readonly LostEvent[]> {
  const lost: LostEvent[] = [];
  const { headOf } = knowledgeOf(current);
  const heads = [...known.heads.values()].flatMap((streams) => [...streams]);
  for (const [stream, { version, hash }] of heads) {
    if (headOf(stream)?.hash === hash) continue;
    // What stands outside of the chain is not in the log.
    const found = sql`select 1 from event
      where stream = ${stream} and hash = ${hash} and seq >= ${current.first}`;
    if ((await found.execute(tx)).rows.length === 0) lost.push({ stream, version, hash });
  }
  return lost;
}
