import { expect, test } from 'vitest';
import { postJson } from '../../src/base/http.ts';
import { breakOff, raw, serve } from './loopback.ts';

const WITHIN_MS = 5_000;

test('the content is posted as JSON, and the reply is returned with its status', async () => {
  const { url, received } = await serve(raw(403, 'expired “url”'));
  const reply = await postJson(`${url}/a%20b?c=d`, { text: 'ä' }, WITHIN_MS);
  expect(reply).toEqual({ status: 403, text: 'expired “url”' });
  expect(received).toMatchObject([
    { method: 'POST', path: '/a%20b', query: { c: 'd' }, body: { text: 'ä' } },
  ]);
  expect(received[0]?.headers).toMatchObject({ 'content-type': 'application/json' });
});

test('a reply that breaks off, and a missing server, are errors', async () => {
  const { url } = await serve(breakOff);
  await expect(postJson(url, {}, WITHIN_MS)).rejects.toThrow();
  await expect(postJson('http://127.0.0.1:1/', {}, WITHIN_MS)).rejects.toThrow('ECONNREFUSED');
});
