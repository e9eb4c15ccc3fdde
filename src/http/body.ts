import { pipeline, Readable } from 'node:stream';
import { createGunzip } from 'node:zlib';
import { createRowStream, type StreamedArray } from './streamed-rows.ts';

export type Body =
  | { readonly kind: 'json'; readonly value: unknown }
  | { readonly kind: 'text' | 'html'; readonly text: string }
  | { readonly kind: 'empty' | 'unreadable' };

const MAX_BYTES = 16 * 1024 * 1024;
const MAX_STREAMED_BYTES = 128 * 1024 * 1024;
const GZIP_SIGNATURE = [0x1f, 0x8b];

/**
 * Reads a whole body and detects its kind from its content, because content types and encodings of
 * error pages are often wrong. Rejects only when the connection breaks. A body over 16 MiB, before or
 * after decompression, is `unreadable`.
 *
 * With `streamed`, the limit is 128 MiB, and the elements of that array are taken while they arrive:
 * the array of the result has only its last ones. The parts without them may have 16 MiB.
 */
export async function readResponseBody(
  stream: AsyncIterable<Buffer>,
  streamed?: StreamedArray,
): Promise<Body> {
  const maxBytes = streamed ? MAX_STREAMED_BYTES : MAX_BYTES;
  const rows = createRowStream(streamed ?? null);
  const size = { received: 0, plain: 0 };
  const received = counted(stream, (bytes) => {
    size.received += bytes;
  });
  try {
    for await (const chunk of unzipped(received)) {
      size.plain += chunk.length;
      if (Math.max(size.received, size.plain) > maxBytes) return { kind: 'unreadable' };
      if (!rows.push(chunk) || rows.pendingBytes() > MAX_BYTES) return { kind: 'unreadable' };
    }
  } catch (error) {
    if (isUnzipError(error)) return { kind: 'unreadable' };
    throw error;
  }
  return bodyOf(new TextDecoder().decode(rows.rest()).trim());
}

async function* counted(
  chunks: AsyncIterable<Buffer>,
  count: (bytes: number) => void,
): AsyncGenerator<Buffer> {
  for await (const chunk of chunks) {
    count(chunk.length);
    yield chunk;
  }
}

/** Neither JSON nor text begins with the gzip signature, so the encoding header is not needed. */
async function* unzipped(chunks: AsyncGenerator<Buffer>): AsyncGenerator<Buffer> {
  let first = Buffer.alloc(0);
  while (first.length < GZIP_SIGNATURE.length) {
    const { value, done } = await chunks.next();
    if (done) break;
    first = Buffer.concat([first, value]);
  }
  const isZipped = GZIP_SIGNATURE.every((byte, index) => first[index] === byte);
  const all = joined(first, chunks);
  yield* isZipped ? gunzipped(all) : all;
}

function gunzipped(chunks: AsyncIterable<Buffer>): AsyncIterable<Buffer> {
  // An error of the chunks or of the archive ends the iteration; the callback would get it as well.
  return pipeline(Readable.from(chunks), createGunzip(), () => undefined);
}

async function* joined(first: Buffer, more: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  yield first;
  yield* more;
}

function isUnzipError(error: unknown): boolean {
  return error instanceof Error && 'code' in error && /^Z_/.test(String(error.code));
}

function bodyOf(text: string): Body {
  if (text === '') return { kind: 'empty' };
  try {
    return { kind: 'json', value: JSON.parse(text) };
  } catch {
    if (text.startsWith('<')) return { kind: 'html', text };
    return /^[[{"]/.test(text) ? { kind: 'unreadable' } : { kind: 'text', text };
  }
}
