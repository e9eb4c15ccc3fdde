import { createHash, createHmac } from 'node:crypto';
import { z } from 'zod';
import { Cache } from '../../base/cache.ts';
import type { JsonObject } from '../../base/text.ts';
import { type ChangeId, STATES, type State } from '../../domain/change.ts';
import type { Head } from '../../storage/old/checkpoint.ts';
import { decode, JsonFields, StoredInstant, toText } from '../../storage/old/portable.ts';
import type { AuditEventTable } from '../../storage/old/schema.ts';
import { type AuditKey, keyId, keyWithId, NO_KEY } from './key-ring.ts';

/** Signed with the previous key; its body names the id of the next one. */
export const KEY_CHANGED = 'key-changed';

export interface AuditEvent {
  readonly kind: string;
  readonly changeId?: ChangeId;
  readonly version?: number;
  readonly from?: State;
  readonly to?: State;
  readonly at: Date;
  readonly body: JsonObject;
}

/** Returns the row after `head`. The hash covers its body; the other columns are copies. */
export function linkAfter(head: Head, key: Buffer | null, event: AuditEvent): AuditEventTable {
  const { kind, changeId = null, version = null, from = null, to = null } = event;
  const seq = head.seq + 1;
  const facts = { seq, at: toText(event.at), kind, change: changeId, version, from, to };
  const body = JSON.stringify({ ...facts, key_id: keyId(key), body: event.body });
  return {
    seq,
    kind,
    change_id: changeId,
    version,
    from_state: from,
    to_state: to,
    body,
    prev_hash: head.hash,
    hash: linkHash(key, head.hash, body),
  };
}

// Without the key, not even the owner of the database can compute a valid hash.
function linkHash(key: Buffer | null, prevHash: string, body: string): string {
  const link = key ? createHmac('sha256', key) : createHash('sha256');
  return link.update(`${prevHash}\n${body}`).digest('hex');
}

const Body = z.strictObject({
  seq: z.int(),
  at: StoredInstant,
  kind: z.string(),
  change: z.custom<ChangeId>((value) => typeof value === 'string').nullable(),
  version: z.int().nullable(),
  from: z.enum(STATES).nullable(),
  to: z.enum(STATES).nullable(),
  key_id: z.string(),
  body: JsonFields,
});

type EventBody = z.infer<typeof Body>;

/** Several checks read the body of one row. */
const known = new WeakMap<object, EventBody>();

/** The events of a change are read again with each of its messages and moves. */
const REMEMBERED = 1_000;
const bodies = new Cache<string, EventBody>(REMEMBERED);
const links = new Cache<string, { prevHash: string; hash: string }>(REMEMBERED);

export function readEventBody(row: Pick<AuditEventTable, 'seq' | 'change_id' | 'body'>): EventBody {
  const read = known.get(row);
  if (read) return read;
  const name = `audit event ${row.seq} (change ${row.change_id ?? 'none'})`;
  const body = bodies.get(row.body) ?? decode(Body, row.body, name);
  bodies.set(row.body, body);
  known.set(row, body);
  return body;
}

/** What is wrong with a chain at its first invalid event. */
export type ChainProblem =
  | 'event-missing'
  | 'link-broken'
  | 'unreadable'
  | 'columns-changed'
  | 'other-key'
  | 'key-replaced'
  | 'body-changed'
  | 'head-differs'
  | 'archive-differs'
  | 'anchor-differs';

/** `keyId`: of the key that signs the next event; after a signed event, an unsigned one is forged. */
export interface Walk extends Head {
  readonly keyId: string;
}

/** Returns the id of the key that signs the next event; `none` after an unsigned or unreadable one. */
export function nextKeyId(row: AuditEventTable): string {
  const body = bodyOf(row);
  const id = body?.key_id ?? NO_KEY;
  if (id === NO_KEY || body?.kind !== KEY_CHANGED) return id;
  return typeof body.body.key === 'string' ? body.body.key : id;
}

/** Starts a walk after this event, which is assumed to be valid. */
export function walkAfter(row: AuditEventTable): Walk {
  return { seq: row.seq, hash: row.hash, keyId: nextKeyId(row) };
}

export function verifyNext(walk: Walk, row: AuditEventTable, keys: AuditKey): Walk | ChainProblem {
  if (row.seq !== walk.seq + 1) return 'event-missing';
  if (row.prev_hash !== walk.hash) return 'link-broken';
  const body = bodyOf(row);
  if (!body) return 'unreadable';
  if (!areCopies(row, body)) return 'columns-changed';
  const isUnsigned = body.key_id === NO_KEY;
  const key = keyWithId(keys, body.key_id);
  if (isUnsigned ? walk.keyId !== NO_KEY : !key) return 'other-key';
  if (walk.keyId !== NO_KEY && body.key_id !== walk.keyId) return 'key-replaced';
  if (row.hash !== linkHash(key, row.prev_hash, row.body)) return 'body-changed';
  return walkAfter(row);
}

/** Whether a key of the ring signed the event as it is; does not check its place in the chain. */
export function isAuthentic(row: AuditEventTable, keys: AuditKey): boolean {
  const body = bodyOf(row);
  if (!body || !areCopies(row, body)) return false;
  const key = keyWithId(keys, body.key_id);
  if (body.key_id !== keyId(key) || (keys !== null && !key)) return false;
  return row.hash === rememberedHash(key, row.prev_hash, row.body);
}

/** Like `linkHash`, for the key that the body names. Computed again if the event follows another one. */
function rememberedHash(key: Buffer | null, prevHash: string, body: string): string {
  const last = links.get(body);
  if (last?.prevHash === prevHash) return last.hash;
  const hash = linkHash(key, prevHash, body);
  links.set(body, { prevHash, hash });
  return hash;
}

function bodyOf(row: AuditEventTable): EventBody | null {
  try {
    return readEventBody(row);
  } catch {
    // For the verifier, an unreadable body is a finding, not an error.
    return null;
  }
}

function areCopies(row: AuditEventTable, body: EventBody): boolean {
  return (
    row.seq === body.seq &&
    row.kind === body.kind &&
    row.change_id === body.change &&
    row.version === body.version &&
    row.from_state === body.from &&
    row.to_state === body.to
  );
}
