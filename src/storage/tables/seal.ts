import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from 'node:crypto';

const FORMAT = 'v1';
const NONCE_BYTES = 12;
const TAG_BYTES = 16;

/** AES-256-GCM; `context`, such as the change's id, must be the same to open it again. */
export function seal(key: Buffer, clear: string, context: string): string {
  const nonce = randomBytes(NONCE_BYTES);
  const cipher = createCipheriv('aes-256-gcm', sealingKey(key), nonce);
  cipher.setAAD(Buffer.from(context));
  const sealed = Buffer.concat([cipher.update(clear, 'utf8'), cipher.final()]);
  const bytes = Buffer.concat([nonce, cipher.getAuthTag(), sealed]);
  return `${FORMAT}.${bytes.toString('base64url')}`;
}

/** Throws when the key or the context is another, or a single bit was changed. */
export function unseal(key: Buffer, sealed: string, context: string): string {
  const [format, text] = sealed.split('.');
  const bytes = Buffer.from(text ?? '', 'base64url');
  if (format !== FORMAT || bytes.length < NONCE_BYTES + TAG_BYTES) {
    throw new Error('This is nothing that was sealed here');
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

// The same secret keys the audit chain; each use has a key of its own.
function sealingKey(key: Buffer): Buffer {
  return Buffer.from(hkdfSync('sha256', key, '', 'signalbox seal v1', 32));
}
