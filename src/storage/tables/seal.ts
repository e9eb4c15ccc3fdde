import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from 'node:crypto';

const FORMAT = 'v1';
const NONCE_BYTES = 12;
const TAG_BYTES = 16;

/** Encrypts with AES-256-GCM. `context`, for example a change id, must be equal to unseal. */
export function seal(key: Buffer, clear: string, context: string): string {
  const nonce = randomBytes(NONCE_BYTES);
  const cipher = createCipheriv('aes-256-gcm', sealingKey(key), nonce);
  cipher.setAAD(Buffer.from(context));
  const sealed = Buffer.concat([cipher.update(clear, 'utf8'), cipher.final()]);
  const bytes = Buffer.concat([nonce, cipher.getAuthTag(), sealed]);
  return `${FORMAT}.${bytes.toString('base64url')}`;
}

/** Throws if the key or the context differs, or if the sealed text was modified. */
export function unseal(key: Buffer, sealed: string, context: string): string {
  const [format, text] = sealed.split('.');
  const bytes = Buffer.from(text ?? '', 'base64url');
  if (format !== FORMAT || bytes.length < NONCE_BYTES + TAG_BYTES) {
    throw new Error('The text was not sealed by Signalbox');
  }
  const nonce = bytes.subarray(0, NONCE_BYTES);
  const decipher = createDecipheriv('aes-256-gcm', sealingKey(key), nonce, {
    authTagLength: TAG_BYTES,
  });
  decipher.setAAD(Buffer.from(context));
  decipher.setAuthTag(bytes.subarray(NONCE_BYTES, NONCE_BYTES + TAG_BYTES));
  const clear = decipher.update(bytes.subarray(NONCE_BYTES + TAG_BYTES));
  return Buffer.concat([clear, decipher.final()]).toString('utf8');
}

// SIGNALBOX_KEY also signs the audit chain: each use derives a key of its own.
function sealingKey(key: Buffer): Buffer {
  return Buffer.from(hkdfSync('sha256', key, '', 'signalbox seal v1', 32));
}
