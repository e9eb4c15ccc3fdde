import type { IncomingMessage, RequestListener } from 'node:http';
import { parse } from 'node:querystring';

/** Slack's own payloads are a few kilobytes. */
const BODY_LIMIT = 128 * 1024;

/**
 * Reads the body before Bolt and rejects one that is not a JSON object: Bolt's parser would throw
 * outside of every handler, which ends the process.
 */
export function withValidBody(listener: RequestListener): RequestListener {
  return (request, response) => {
    const refuse = (status: number) => {
      if (!response.headersSent) response.writeHead(status).end();
    };
    readBody(request).then(
      (body) => {
        if (body === null) return refuse(413);
        if (!holdsObject(body.toString(), request.headers['content-type'])) return refuse(400);
        // Bolt uses `rawBody` where it is set.
        return listener(Object.assign(request, { rawBody: body }), response);
      },
      () => refuse(400),
    );
  };
}

/** Null for a body that is too large. It is read to its end, so that the client gets the answer. */
function readBody(request: IncomingMessage): Promise<Buffer | null> {
  const pieces: Buffer[] = [];
  let size = 0;
  request.on('data', (piece: Buffer) => {
    size += piece.length;
    if (size <= BODY_LIMIT) pieces.push(piece);
  });
  return new Promise((read, failed) => {
    request.once('end', () => read(size > BODY_LIMIT ? null : joined(pieces)));
    // Also emitted when the connection breaks off.
    request.once('error', failed);
  });
}

/** A copy of a single piece would keep the memory that Node shares among small buffers. */
function joined(pieces: readonly Buffer[]): Buffer {
  const [first] = pieces;
  return first && pieces.length === 1 ? first : Buffer.concat(pieces);
}

function holdsObject(text: string, contentType: string | undefined): boolean {
  if (contentType === 'application/x-www-form-urlencoded') {
    const { payload } = parse(text);
    return payload === undefined || (typeof payload === 'string' && isObject(payload));
  }
  return isObject(text);
}

function isObject(text: string): boolean {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null && !Array.isArray(value);
  } catch {
    return false;
  }
}
