import { getGlobalDispatcher } from 'undici';

/** The replies of Slack are shorter. */
const REPLY_MAX_BYTES = 64 * 1024;

interface PostReply {
  readonly status: number;
  readonly text: string;
}

/**
 * Posts JSON once, without redirects, and returns the reply as text. Rejects without a whole reply of at
 * most 64 KiB. Every answer is posted with it: without the streams of `request` it needs half the time.
 */
export function postJson(url: string, content: unknown, withinMs: number): Promise<PostReply> {
  const { origin, pathname, search } = new URL(url);
  const request = {
    origin,
    path: `${pathname}${search}`,
    method: 'POST',
    headersTimeout: withinMs,
    bodyTimeout: withinMs,
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(content),
  } as const;
  const pieces: Buffer[] = [];
  let status = 0;
  let size = 0;
  return new Promise((resolve, reject) => {
    getGlobalDispatcher().dispatch(request, {
      onRequestStart: () => undefined,
      onResponseStart: (_controller, statusCode) => {
        status = statusCode;
      },
      onResponseData: (controller, piece) => {
        size += piece.length;
        if (size > REPLY_MAX_BYTES) controller.abort(new Error('The reply is too large'));
        else pieces.push(piece);
      },
      // The body is read to its end, so that the connection can be reused.
      onResponseEnd: () => resolve({ status, text: Buffer.concat(pieces).toString() }),
      onResponseError: (_controller, error) => reject(error),
    });
  });
}
