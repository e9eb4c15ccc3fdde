import { promisify } from 'node:util';
import { gunzip } from 'node:zlib';

const unzip = promisify(gunzip);

export type Body =
  | { readonly kind: 'json'; readonly value: unknown }
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'empty' | 'html' | 'unreadable' };

/**
 * Reads a whole body and detects its kind from its content, because content types and encodings of
 * error pages are often wrong. Rejects only when the connection breaks. A body over `maxBytes`,
 * before or after decompression, is `unreadable`.
 */
export async function readResponseBody(
  stream: AsyncIterable<Buffer>,
  maxBytes: number,
): Promise<Body> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of stream) {
    size += chunk.length;
    if (size > maxBytes) return { kind: 'unreadable' };
    chunks.push(chunk);
  }
  const bytes = await unzipped(Buffer.concat(chunks), maxBytes);
  return bytes === null ? { kind: 'unreadable' } : bodyOf(new TextDecoder().decode(bytes).trim());
}

/** Neither JSON nor text begins with the gzip signature, so the encoding header is not needed. */
async function unzipped(bytes: Buffer, maxBytes: number): Promise<Buffer | null> {
  if (bytes[0] !== 0x1f || bytes[1] !== 0x8b) return bytes;
  try {
    return await unzip(bytes, { maxOutputLength: maxBytes });
  } catch {
    return null;
  }
}

function bodyOf(text: string): Body {
  if (text === '') return { kind: 'empty' };
  try {
    return { kind: 'json', value: JSON.parse(text) };
  } catch {
    if (text.startsWith('<')) return { kind: 'html' };
    return /^[[{"]/.test(text) ? { kind: 'unreadable' } : { kind: 'text', text };
  }
}
