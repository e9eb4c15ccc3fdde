import { createHash, createHmac } from 'node:crypto';
import { z } from 'zod';
import { type ChangeId, type JsonObject, STATES, type State } from '../../changes/change.ts';
import { decode, JsonFields, StoredInstant, toText } from '../engine/portable.ts';
import type { AuditEventTable } from '../tables/schema.ts';

/** The hash before the first audit event. */
export const GENESIS = '0'.repeat(64);
const NO_KEY = 'none';

export interface AuditEvent {
  readonly kind: string;
  readonly changeId?: ChangeId;
  readonly version?: number;
  readonly from?: State;
  readonly to?: State;
  readonly at: Date;
  readonly body: JsonObject;
}

/** The end of the chain. A copy outside the database detects a tail that was cut. */
export interface Head {
  readonly seq: number;
  readonly hash: string;
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

// Identifies a key without revealing it.
export function keyId(key: Buffer | null): string {
  if (!key) return NO_KEY;
  const known = keyIds.get(key) ?? createHash('sha256').update(key).digest('hex').slice(0, 8);
  keyIds.set(key, known);
  return known;
}

// Cached, because it is needed for every event and costs as much as the link.
const keyIds = new WeakMap<Buffer, string>();

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

export function readEventBody(row: AuditEventTable): z.infer<typeof Body> {
  return decode(Body, row.body, `audit event ${row.seq} (change ${row.change_id ?? 'none'})`);
}

/** What is wrong with a chain at its first invalid event. */
export type ChainProblem =
  | 'event-missing'
  | 'link-broken'
  | 'unreadable'
  | 'columns-changed'
  | 'other-key'
  | 'body-changed'
  | 'head-differs'
  | 'anchor-differs';

/** `keyed`: after the first signed event, an unsigned event is a forgery. */
export interface Walk extends Head {
  readonly keyed: boolean;
}

/** Returns the key id of an event; null if it is unsigned or cannot be read. */
export function keyIdOf(row: AuditEventTable): string | null {
  const id = bodyOf(row)?.key_id ?? NO_KEY;
  return id === NO_KEY ? null : id;
}

/** Starts a walk after this event, which is assumed to be valid. */
export function walkAfter(row: AuditEventTable): Walk {
  return { seq: row.seq, hash: row.hash, keyed: keyIdOf(row) !== null };
}

export function verifyNext(
  walk: Walk,
  row: AuditEventTable,
  key: Buffer | null,
): Walk | ChainProblem {
  if (row.seq !== walk.seq + 1) return 'event-missing';
  if (row.prev_hash !== walk.hash) return 'link-broken';
  const body = bodyOf(row);
  if (!body) return 'unreadable';
  if (!areCopies(row, body)) return 'columns-changed';
  if (body.key_id !== NO_KEY && body.key_id !== keyId(key)) return 'other-key';
  if (body.key_id === NO_KEY && walk.keyed) return 'other-key';

  const own = body.key_id === NO_KEY ? null : key;
  if (row.hash !== linkHash(own, row.prev_hash, row.body)) return 'body-changed';
  return { seq: row.seq, hash: row.hash, keyed: own !== null };
}

/** Whether this key signed the event as it is; does not check its place in the chain. */
export function isAuthentic(row: AuditEventTable, key: Buffer | null): boolean {
  const body = bodyOf(row);
  if (!body || !areCopies(row, body) || body.key_id !== keyId(key)) return false;
  return row.hash === linkHash(key, row.prev_hash, row.body);
}

function bodyOf(row: AuditEventTable): z.infer<typeof Body> | null {
  try {
    return readEventBody(row);
  } catch {
    // For the verifier, an unreadable body is a finding, not an error.
    return null;
  }
}

function areCopies(row: AuditEventTable, body: z.infer<typeof Body>): boolean {
  return (
    row.seq === body.seq &&
    row.kind === body.kind &&
    row.change_id === body.change &&
    row.version === body.version &&
    row.from_state === body.from &&
    row.to_state === body.to
  );
}
