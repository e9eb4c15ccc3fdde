import { createHash, type KeyObject } from 'node:crypto';
import type { JsonObject } from '../base/text.ts';
import { type EventOf, parseEvent } from '../domain/log-events.ts';
import {
  foreignLog,
  isSignedBy,
  keyIdOf,
  type LogKeys,
  publicKeyFrom,
  publicKeyText,
  type SigningKey,
  signText,
} from './keys.ts';

/** A row of the table `event`. Its body is null when it was pruned, or was not read. */
export interface EventRow {
  readonly seq: number;
  readonly stream: string;
  readonly version: number;
  readonly type: string;
  readonly at: number;
  readonly body: string | null;
  readonly body_hash: string;
  readonly prev: string;
  readonly hash: string;
  readonly key: string;
  readonly signature: string;
}

/** An event of the log is not what was appended: someone modified the database, or the disk is damaged. */
export class Damaged extends Error {
  override readonly name = 'Damaged';
  /** The first event at which it shows. */
  readonly seq: number;

  constructor(seq: number, problem: string) {
    super(`The log is damaged at event ${seq}: ${problem}`);
    this.seq = seq;
  }
}

/** The log does not contain what this process knows: the database is an older copy, or lost its last commits. */
export class WentBack extends Error {
  override readonly name = 'WentBack';
}

export type End = Pick<EventRow, 'seq' | 'hash'>;

/** The last event of a stream that this process knows. */
export type StreamHead = Pick<EventRow, 'version' | 'hash'>;

/** From this event on, only this key counts. */
interface KeyEra {
  readonly from: number;
  readonly key: string;
}

/** What this process has proved of the log, by following it. It grows by `absorb` alone. */
export interface Chain {
  end: End;
  /** The first event: 1, or the one that began the chapter. */
  first: number;
  eras: readonly KeyEra[];
  /** The keys that this process holds, and those that such a key introduced. */
  readonly trusted: Map<string, KeyObject>;
  /** By the group of the stream, so that all streams of a group are found without reading the others. */
  readonly heads: Map<string, Map<string, StreamHead>>;
  /** Streams whose bodies may be null, up to this version. */
  readonly pruned: Map<string, number>;
}

/** The hash before the first event of a log, and of each chapter. */
const BEGINNING = 'genesis';

export function emptyChain(keys: LogKeys): Chain {
  const held = [keys.current, ...keys.previous];
  return {
    end: { seq: 0, hash: BEGINNING },
    first: 1,
    eras: [],
    trusted: new Map(held.map(({ id, publicKey }) => [id, publicKey])),
    heads: new Map(),
    pruned: new Map(),
  };
}

/** `press/7KQ2MX/1` is in the group `press/7KQ2MX`. */
export function groupOf(stream: string): string {
  return stream.slice(0, Math.max(stream.lastIndexOf('/'), 0));
}

export function keyInForce(
  { eras }: Pick<Chain, 'eras'>,
  seq = Number.POSITIVE_INFINITY,
): string | null {
  return eras.findLast(({ from }) => from <= seq)?.key ?? null;
}

export function hashText(text: string): string {
  return createHash('sha256').update(text).digest('base64url');
}

/** Covers everything but the body, which it covers by its hash. The signature signs this hash. */
export function eventHash(row: Omit<EventRow, 'hash' | 'signature' | 'body'>): string {
  const { seq, stream, version, type, at, body_hash, prev, key } = row;
  return hashText(JSON.stringify([seq, stream, version, type, at, body_hash, prev, key]));
}

/** What is appended: everything else follows from its place in the log. */
type Draft = Pick<EventRow, 'stream' | 'version' | 'type' | 'at'> & { readonly body: string };

/** Returns the row after `end`, signed. */
export function rowAfter(end: End, key: SigningKey, draft: Draft): EventRow {
  const { body, ...facts } = draft;
  const own = {
    ...facts,
    seq: end.seq + 1,
    body_hash: hashText(body),
    prev: end.hash,
    key: key.id,
  };
  const hash = eventHash(own);
  return { ...own, body, hash, signature: signText(key, hash) };
}

/** The first row of a chapter, which continues the numbers of the log that it closes. */
export function chapterRow(closed: number, key: SigningKey, draft: Draft): EventRow {
  return rowAfter({ seq: closed, hash: BEGINNING }, key, draft);
}

/** Events that say how to read others. Their bodies are always read. */
export const GUIDING_TYPES = ['key-changed', 'pruned', 'chapter'] as const;

/** What new rows add to a chain. Nothing of it is known before the transaction that read them has been answered. */
export interface Extension extends Chain {
  readonly chain: Chain;
  /** The hashes on its way, from the end of the chain on. */
  readonly way: Map<number, string>;
}

function emptyExtension(chain: Chain): Extension {
  const { end, first, eras } = chain;
  const way = new Map([[end.seq, end.hash]]);
  return { chain, way, end, first, eras, trusted: new Map(), heads: new Map(), pruned: new Map() };
}

/**
 * Verifies the rows after the end of the chain: the hash of each, and one signature, that of the last, which covers all
 * before it. Throws `Damaged`, or `KeyProblem` where this process has no key of the log.
 */
export function extend(chain: Chain, rows: readonly EventRow[]): Extension {
  const extension = emptyExtension(chain);
  for (const row of rows) addRow(extension, row);
  const last = rows.at(-1);
  if (last && knowledgeOf(extension).keyWith(last.key))
    verifySignature(knowledgeOf(extension), last);
  return extension;
}

/** Adds a row that follows the end of the extension; its signature is not verified. */
export function addRow(extension: Extension, row: EventRow): void {
  const guide = guideOf(row);
  const isFirst = extension.end.seq === 0;
  if (isFirst) extension.first = guide?.type === 'chapter' ? guide.from.seq + 1 : 1;
  const expected = isFirst ? extension.first : extension.end.seq + 1;
  if (row.seq !== expected) throw new Damaged(expected, 'it is missing');
  if (row.prev !== extension.end.hash)
    throw new Damaged(row.seq, 'it does not follow the one before');
  if (eventHash(row) !== row.hash) throw new Damaged(row.seq, 'it was modified');
  const version = (knowledgeOf(extension).headOf(row.stream)?.version ?? 0) + 1;
  if (row.version !== version)
    throw new Damaged(row.seq, `${row.stream} has no version ${version}`);
  const key = keyInForce(extension) ?? row.key;
  if (row.key !== key) throw new Damaged(row.seq, 'its key was not in force');
  if (isFirst) extension.eras = [{ from: row.seq, key }];
  extension.end = { seq: row.seq, hash: row.hash };
  extension.way.set(row.seq, row.hash);
  setHead(extension, row.stream, { version, hash: row.hash });
  if (guide?.type === 'key-changed') changeKey(extension, row, guide);
  if (guide?.type === 'pruned') {
    for (const { stream, upTo } of guide.streams) extension.pruned.set(stream, upTo);
  }
}

function guideOf(row: EventRow): EventOf<'installation'> | null {
  const isGuide = GUIDING_TYPES.some((type) => type === row.type);
  if (!isGuide || !/^installation(\/|$)/.test(row.stream)) return null;
  refuseBody(row, false);
  const guide = parseEvent('installation', bodyFields(row));
  if (!guide) throw new Damaged(row.seq, 'its body cannot be read');
  return guide;
}

/** Throws unless the body of an event is what was appended. A pruned one is missing, and never another one. */
export function refuseBody({ seq, body, body_hash }: EventRow, isPruned: boolean): void {
  if (body === null && isPruned) return;
  if (body === null) throw new Damaged(seq, 'its body is missing');
  if (hashText(body) !== body_hash) throw new Damaged(seq, 'its body was modified');
}

/** What the new key signs: that it follows the old one at this place of the log. */
export function rotationText(prev: string, oldKey: string, newKey: string): string {
  return `signalbox key-changed\n${prev}\n${oldKey}\n${newKey}`;
}

/** From here on only the new key counts. Each of both keys vouches for the other. */
function changeKey(
  extension: Extension,
  row: EventRow,
  change: EventOf<'installation'> & { type: 'key-changed' },
): void {
  const { keyWith } = knowledgeOf(extension);
  const oldKey = publicKeyFrom(change.oldPublicKey);
  const newKey = publicKeyFrom(change.newPublicKey);
  const isComplete =
    oldKey !== null &&
    newKey !== null &&
    keyIdOf(oldKey) === row.key &&
    keyIdOf(newKey) === change.key &&
    isSignedBy(keyWith(row.key) ?? oldKey, row.hash, row.signature) &&
    isSignedBy(newKey, rotationText(row.prev, row.key, change.key), change.proof);
  if (!isComplete) throw new Damaged(row.seq, 'the change of the key is not signed by both keys');
  if (extension.eras.some(({ key }) => key === change.key)) {
    throw new Damaged(row.seq, 'a key that was replaced is in force again');
  }
  // A process that holds one of both keys has verified what this one signed, and relies on the other.
  if (keyWith(row.key) ?? keyWith(change.key)) {
    extension.trusted.set(row.key, oldKey).set(change.key, newKey);
  }
  extension.eras = [...extension.eras, { from: row.seq + 1, key: change.key }];
}

/** The event that replaces the current key by the next one. */
export function keyChange(prev: string, old: SigningKey, next: SigningKey) {
  return {
    type: 'key-changed',
    key: next.id,
    oldPublicKey: publicKeyText(old.publicKey),
    newPublicKey: publicKeyText(next.publicKey),
    proof: signText(next, rotationText(prev, old.id, next.id)),
  } as const;
}

export type Knowledge = ReturnType<typeof knowledgeOf>;

/** What is needed to verify an event that was followed before. */
export function knowledgeOf(known: Chain | Extension) {
  const { eras, trusted, pruned, heads } = known;
  const before = 'chain' in known ? known.chain : known;
  return {
    eras,
    keyWith: (id: string): KeyObject | null => trusted.get(id) ?? before.trusted.get(id) ?? null,
    prunedUpTo: (stream: string) => pruned.get(stream) ?? before.pruned.get(stream) ?? 0,
    headOf: (stream: string): StreamHead | null => {
      const group = groupOf(stream);
      return heads.get(group)?.get(stream) ?? before.heads.get(group)?.get(stream) ?? null;
    },
    headsUnder: (group: string): ReadonlyMap<string, StreamHead> =>
      new Map([...(before.heads.get(group) ?? []), ...(heads.get(group) ?? [])]),
  };
}

function setHead({ heads }: Chain, stream: string, head: StreamHead): void {
  const group = groupOf(stream);
  const streams = heads.get(group) ?? new Map<string, StreamHead>();
  heads.set(group, streams.set(stream, head));
}

export function verifySignature({ keyWith }: Knowledge, row: EventRow): void {
  const key = keyWith(row.key);
  if (key && isSignedBy(key, row.hash, row.signature)) return;
  throw new Damaged(row.seq, 'its signature is not valid');
}

/** Throws unless a key of this process, or one that such a key introduced, is in force. */
export function refuseForeign({ eras, keyWith }: Knowledge): void {
  const key = keyInForce({ eras });
  if (key === null || keyWith(key)) return;
  throw foreignLog();
}

/**
 * Adds what an answered transaction has read or appended. Where it does not pass what was learned meanwhile, the log went
 * back: that remains known, so that the next one finds it.
 */
export function absorb(extension: Extension): void {
  const { chain, end, first, eras } = extension;
  if (extension.way.get(chain.end.seq) !== chain.end.hash) return;
  Object.assign(chain, { end, first, eras });
  for (const [id, key] of extension.trusted) chain.trusted.set(id, key);
  for (const streams of extension.heads.values()) {
    for (const [stream, head] of streams) setHead(chain, stream, head);
  }
  for (const [stream, upTo] of extension.pruned) chain.pruned.set(stream, upTo);
}

/** The fields of an event, with its type. Throws `Damaged` where the body is no JSON object. */
export function bodyFields({ seq, type, body }: EventRow): JsonObject {
  try {
    const fields: JsonObject = JSON.parse(body ?? '');
    return { ...fields, type };
  } catch {
    throw new Damaged(seq, 'its body cannot be read');
  }
}
