import { createHmac, timingSafeEqual } from 'node:crypto';
import type { Head } from '../../storage/old/checkpoint.ts';
import { readMeta, writeMeta } from '../../storage/old/meta.ts';
import type { Db, Tx } from '../../storage/old/schema.ts';
import { listEvents, storedEvent } from './append.ts';
import { type AuditKey, currentKey, keysOf } from './key-ring.ts';

/** The end of a trail, and the installation whose database has it; null in an older anchor. */
export interface Anchor extends Head {
  readonly installation: string | null;
}

const LINE = /^audit (\d{1,15}) ([0-9a-f]{64})(?: ([0-9a-f]{16}))?(?: ([0-9a-f]{64}))?$/;

/**
 * `audit 1234 4f2a… 77e0… 9c1d…`: sequence number and hash of an event, the id of the installation,
 * and with a key their signature. `audit verify --anchor` accepts the first two.
 */
export function anchorLine(anchor: Anchor, keys: AuditKey): string {
  const key = currentKey(keys);
  const line = unsignedLine(anchor);
  return key ? `${line} ${signature(line, key)}` : line;
}

function unsignedLine({ seq, hash, installation }: Anchor): string {
  return `audit ${seq} ${hash}${installation === null ? '' : ` ${installation}`}`;
}

/** Returns null for a text that is not exactly an anchor with the signature of one of these keys. */
export function readAnchor(text: string, keys: AuditKey): Anchor | null {
  const [, seq, hash, installation = null, signed] = LINE.exec(text) ?? [];
  if (!seq || !hash) return null;
  const anchor = { seq: Number(seq), hash, installation };
  const line = unsignedLine(anchor);
  const expected = keys === null ? [undefined] : keysOf(keys).map((key) => signature(line, key));
  if (!expected.some((one) => isSame(signed, one))) return null;
  return anchor;
}

// The text before the line keeps the signature apart from those of audit events.
function signature(line: string, key: Buffer): string {
  return createHmac('sha256', key).update(`anchor\n${line}`).digest('hex');
}

function isSame(given: string | undefined, expected: string | undefined): boolean {
  if (given === undefined || expected === undefined) return given === expected;
  return timingSafeEqual(Buffer.from(given), Buffer.from(expected));
}

const INSTALLATION = 'installation';
const ID_LENGTH = 16;

/**
 * Returns the id of the installation that this database belongs to, 16 hexadecimal digits; null for
 * an empty trail. It comes from the first event, so that all replicas and every restored copy have
 * the same id, also a copy from before the id was stored.
 * Source: docs/operating.md#one-installation-per-audit-channel.
 */
export async function installationId(db: Db): Promise<string | null> {
  const stored = await readMeta(db, INSTALLATION);
  if (stored !== null) return stored;
  const [first] = await listEvents(db, { afterSeq: 0, limit: 1 });
  if (!first || first.seq === 1) return first?.hash.slice(0, ID_LENGTH) ?? null;
  return archivedInstallation(db);
}

/** The id from a checkpoint, where event 1 is archived and the stored id was deleted. */
async function archivedInstallation(db: Db): Promise<string | null> {
  const query = db.selectFrom('audit_event').selectAll().where('kind', '=', 'trail-archived');
  const row = await query.orderBy('seq').limit(1).executeTakeFirst();
  const id = row && storedEvent(row).body.installation;
  return typeof id === 'string' ? id : null;
}

/** Returns the id like `installationId`, and stores it before it leaves the database. */
export async function storeInstallationId(tx: Tx): Promise<string | null> {
  const id = await installationId(tx);
  if (id !== null) await writeMeta(tx, INSTALLATION, id);
  return id;
}
