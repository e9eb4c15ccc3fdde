import {
  createCipheriv,
  createDecipheriv,
  createHash,
  createPrivateKey,
  createPublicKey,
  hkdfSync,
  type KeyObject,
  randomBytes,
  sign,
  verify,
} from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import type { Secret } from '../base/errors.ts';
import { restrictToOwner, sqlitePath, writePrivately } from '../storage/sqlite.ts';

/** An Ed25519 key that signs the log. It is derived from a key of 32 bytes, which also seals secrets. */
export interface SigningKey {
  /** Identifies the public key. */
  readonly id: string;
  readonly publicKey: KeyObject;
  readonly privateKey: KeyObject;
  readonly secret: Buffer;
}

/** The key that signs, and earlier ones, which only verify and unseal. */
export interface LogKeys {
  readonly current: SigningKey;
  readonly previous: readonly SigningKey[];
}

/** A process that lacks a key, or has an older one, reads at most, and writes nothing. Only a person can fix it. */
export class KeyProblem extends Error {
  override readonly name = 'KeyProblem';
  readonly hint: string;

  constructor(problem: string, hint: string) {
    super(problem);
    this.hint = hint;
  }
}

export function foreignLog(): KeyProblem {
  return new KeyProblem(
    'The log of this database is signed with a key that this process does not have',
    'set SIGNALBOX_KEY to the key of this database; after a change of the key, SIGNALBOX_PREVIOUS_KEYS to the earlier one',
  );
}

interface KeySources {
  readonly databaseUrl: string;
  /** SIGNALBOX_KEY and SIGNALBOX_PREVIOUS_KEYS: 32 bytes each, in base64. */
  readonly key: Secret | null;
  readonly previous: readonly Secret[];
}

/**
 * Returns the keys of this process. Without SIGNALBOX_KEY, SQLite has a key file next to the database, which is created
 * while the log is empty; PostgreSQL has none, because a replica on another machine could not read it.
 */
export function readKeys({ databaseUrl, key, previous }: KeySources): LogKeys {
  const current = key ? signingKey(Buffer.from(key.reveal(), 'base64')) : ownKey(databaseUrl);
  const earlier = previous.map((each) => signingKey(Buffer.from(each.reveal(), 'base64')));
  return { current, previous: earlier.filter(({ id }) => id !== current.id) };
}

function ownKey(databaseUrl: string): SigningKey {
  if (!databaseUrl.startsWith('file:')) {
    const hint = 'set it to 32 bytes in base64, for example from openssl rand -base64 32';
    throw new KeyProblem('SIGNALBOX_KEY is not set, which PostgreSQL needs', hint);
  }
  const path = sqlitePath(databaseUrl);
  if (path === ':memory:') return signingKey(randomBytes(SECRET_BYTES));
  const file = `${path}.key`;
  if (!existsSync(file)) {
    if (mayHaveEvents(path)) {
      const hint =
        'restore the file from the backup, or set SIGNALBOX_KEY to the key of this database';
      throw new KeyProblem(
        `The key file ${file} is missing, and the database may have events`,
        hint,
      );
    }
    writePrivately(file, `${randomBytes(SECRET_BYTES).toString('base64')}\n`);
  }
  restrictToOwner(file);
  const secret = Buffer.from(readFileSync(file, 'utf8'), 'base64');
  if (secret.length === SECRET_BYTES) return signingKey(secret);
  throw new KeyProblem(`The key file ${file} has no key of 32 bytes`, 'restore it from the backup');
}

/** `signalbox migrate` makes the tables before a key. A file that cannot be read may have events. */
function mayHaveEvents(path: string): boolean {
  if (!existsSync(path)) return false;
  try {
    const db = new DatabaseSync(path, { readOnly: true });
    try {
      return db.prepare('select 1 from event limit 1').get() !== undefined;
    } finally {
      db.close();
    }
  } catch {
    return true;
  }
}

const SECRET_BYTES = 32;
/** The DER form of an Ed25519 private key is this prefix and its 32 bytes. */
const PKCS8 = Buffer.from('302e020100300506032b657004220420', 'hex');
/** The same of a public key. */
const SPKI = Buffer.from('302a300506032b6570032100', 'hex');

export function signingKey(secret: Buffer): SigningKey {
  const seed = derived(secret, 'signalbox log signature v1');
  const der = Buffer.concat([PKCS8, seed]);
  const privateKey = createPrivateKey({ key: der, format: 'der', type: 'pkcs8' });
  const publicKey = createPublicKey(privateKey);
  return { id: keyIdOf(publicKey), publicKey, privateKey, secret };
}

/** SIGNALBOX_KEY has three uses: each derives a key of its own. */
function derived(secret: Buffer, use: string): Buffer {
  return Buffer.from(hkdfSync('sha256', secret, '', use, 32));
}

function derOf(publicKey: KeyObject): Buffer {
  return publicKey.export({ type: 'spki', format: 'der' });
}

export function keyIdOf(publicKey: KeyObject): string {
  return createHash('sha256').update(derOf(publicKey)).digest('base64url').slice(0, 16);
}

/** The public key as an event carries it. */
export function publicKeyText(publicKey: KeyObject): string {
  return derOf(publicKey).toString('base64');
}

/** Null for a text that is no public key of Ed25519. */
export function publicKeyFrom(text: string): KeyObject | null {
  const der = Buffer.from(text, 'base64');
  const isKey = der.length === SPKI.length + 32 && der.subarray(0, SPKI.length).equals(SPKI);
  return isKey ? createPublicKey({ key: der, format: 'der', type: 'spki' }) : null;
}

export function signText(key: SigningKey, text: string): string {
  return sign(null, Buffer.from(text), key.privateKey).toString('base64url');
}

/** A signature has one spelling: another text that decodes to the same bytes is refused. */
export function isSignedBy(publicKey: KeyObject, text: string, signature: string): boolean {
  const bytes = Buffer.from(signature, 'base64url');
  if (bytes.toString('base64url') !== signature) return false;
  return verify(null, Buffer.from(text), publicKey, bytes);
}

const NONCE_BYTES = 12;
const TAG_BYTES = 16;

/** Encrypts with AES-256-GCM. The text opens only in the same context, for example of one change and requester. */
export function sealText({ current }: LogKeys, clear: string, context: readonly string[]): string {
  const nonce = randomBytes(NONCE_BYTES);
  const cipher = createCipheriv('aes-256-gcm', sealingKey(current), nonce);
  cipher.setAAD(Buffer.from(JSON.stringify(context)));
  const sealed = Buffer.concat([cipher.update(clear), cipher.final()]);
  const bytes = Buffer.concat([nonce, cipher.getAuthTag(), sealed]);
  return `${current.id}.${bytes.toString('base64url')}`;
}

/** Throws if no key of this process sealed the text in this context. */
export function unsealText(keys: LogKeys, sealed: string, context: readonly string[]): string {
  const [id, text = ''] = sealed.split('.');
  const key = [keys.current, ...keys.previous].find((each) => each.id === id);
  const bytes = Buffer.from(text, 'base64url');
  if (!key) throw new Error('The text was not sealed with a key of this process');
  const nonce = bytes.subarray(0, NONCE_BYTES);
  const options = { authTagLength: TAG_BYTES };
  const decipher = createDecipheriv('aes-256-gcm', sealingKey(key), nonce, options);
  decipher.setAAD(Buffer.from(JSON.stringify(context)));
  decipher.setAuthTag(bytes.subarray(NONCE_BYTES, NONCE_BYTES + TAG_BYTES));
  const clear = decipher.update(bytes.subarray(NONCE_BYTES + TAG_BYTES));
  return Buffer.concat([clear, decipher.final()]).toString('utf8');
}

/** The keys that sign and verify the places of buttons: the first one signs. */
export function placeKeys({ current, previous }: LogKeys): readonly Buffer[] {
  return [current, ...previous].map(({ secret }) => derived(secret, 'signalbox place v2'));
}

function sealingKey({ secret }: SigningKey): Buffer {
  return derived(secret, 'signalbox seal v2');
}
