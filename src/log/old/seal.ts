import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from 'node:crypto';
import type { ChangeId, UserId } from '../../domain/change.ts';

/** What a sealed text is bound to: it opens only in the same context. */
export interface SealContext {
  readonly purpose: 'password of a created service';
  readonly changeId: ChangeId;
  readonly requester: UserId;
}

const NONCE_BYTES = 12;
const TAG_BYTES = 16;

// The additional authenticated data of each format. Release 1.0 wrote v1.
const AUTHENTICATED: Readonly<Record<string, (context: SealContext) => string>> = {
  v1: ({ changeId }) => changeId,
  v2: ({ purpose, changeId, requester }) => JSON.stringify([purpose, changeId, requester]),
};

/** Encrypts with AES-256-GCM, bound to the context. */
export function seal(key: Buffer, clear: string, context: SealContext): string {
  const nonce = randomBytes(NONCE_BYTES);
  const cipher = createCipheriv('aes-256-gcm', sealingKey(key), nonce);
  cipher.setAAD(authenticated('v2', context));
  const sealed = Buffer.concat([cipher.update(clear, 'utf8'), cipher.final()]);
  const bytes = Buffer.concat([nonce, cipher.getAuthTag(), sealed]);
  return `v2.${bytes.toString('base64url')}`;
}

/** Throws if the key or the context differs, or if the sealed text was modified. */
export function unseal(key: Buffer, sealed: string, context: SealContext): string {
  const [format = '', text] = sealed.split('.');
  const bytes = Buffer.from(text ?? '', 'base64url');
  if (bytes.length < NONCE_BYTES + TAG_BYTES) throw notSealed();
  const nonce = bytes.subarray(0, NONCE_BYTES);
  const decipher = createDecipheriv('aes-256-gcm', sealingKey(key), nonce, {
    authTagLength: TAG_BYTES,
  });
  decipher.setAAD(authenticated(format, context));
  decipher.setAuthTag(bytes.subarray(NONCE_BYTES, NONCE_BYTES + TAG_BYTES));
  const clear = decipher.update(bytes.subarray(NONCE_BYTES + TAG_BYTES));
  return Buffer.concat([clear, decipher.final()]).toString('utf8');
}

function authenticated(format: string, context: SealContext): Buffer {
  const text = AUTHENTICATED[format]?.(context);
  if (text === undefined) throw notSealed();
  return Buffer.from(text);
}

function notSealed(): Error {
  return new Error('The text was not sealed by Signalbox');
}

// SIGNALBOX_KEY also signs the audit chain: each use derives a key of its own.
function sealingKey(key: Buffer): Buffer {
  return Buffer.from(hkdfSync('sha256', key, '', 'signalbox seal v1', 32));
}
