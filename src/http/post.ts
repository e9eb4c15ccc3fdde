import { request } from 'undici';

/** Sends JSON once and reads the answer as text; no redirect is followed. Throws where none came. */
export async function postJson(url: string, content: unknown, withinMs: number) {
  const { statusCode: status, body } = await request(url, {
    method: 'POST',
    headersTimeout: withinMs,
    bodyTimeout: withinMs,
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(content),
  });
  // Reading it to the end lets the connection serve the next one.
  return { status, text: await body.text() };
}
