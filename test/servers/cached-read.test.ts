import { expect, test } from 'vitest';
import { ApiError } from '../../src/base/errors.ts';
import {
  type CachedRead,
  cachedRead,
  createCapabilities,
  type SwitchedOff,
} from '../../src/servers/optional-reads.ts';

const RULES = { backups: { permission: 'service:view-backups', notFound: 'object' } } as const;
const MINUTE = 60_000;

function refusal(status: number): ApiError {
  const effect = status === 503 ? 'unknown' : 'refused';
  return new ApiError({ operation: 'listBackups', effect, kind: 'answer', status });
}

/** A cached read on a server that a test answers, with a clock that it moves. */
function openRead(read: Partial<CachedRead<'backups', number>> = {}) {
  const time = { ms: 0 };
  const off: SwitchedOff[] = [];
  const sent: string[] = [];
  const server = { answer: (): number | Promise<number> => sent.length };
  const now = () => new Date(time.ms);
  const capabilities = createCapabilities(RULES, {
    ...{ mode: 'extended', now },
    onOff: (one) => off.push(one),
  });
  const get = cachedRead(capabilities, now, {
    ...{ name: 'backups', keepMs: 5 * MINUTE },
    send: async (key, { priority }) => {
      sent.push(`${key} ${priority}`);
      return server.answer();
    },
    ...read,
  });
  const refuse = (status: number) => {
    server.answer = () => Promise.reject(refusal(status));
  };
  const accept = () => {
    server.answer = () => sent.length;
  };
  return { time, off, sent, server, capabilities, get, refuse, accept };
}

test('a value is cached for its time, and keeps the time at which it was read', async () => {
  const { get, sent, time } = openRead();
  const first = await get('a');
  time.ms = 5 * MINUTE - 1;
  expect(await get('a', { waiting: true })).toEqual(first);
  expect(first).toMatchObject({ value: 1, readAt: new Date(0) });
  time.ms = 5 * MINUTE;
  expect(await get('a')).toMatchObject({ value: 2, readAt: new Date(5 * MINUTE) });
  expect(sent).toEqual(['a optional', 'a optional']);
});

test('a fresh read is sent again, and its value is cached for others', async () => {
  const { get, sent } = openRead();
  await get('a');
  expect(await get('a', { fresh: true, waiting: true })).toMatchObject({ value: 2 });
  expect(await get('a')).toMatchObject({ value: 2 });
  expect(sent).toEqual(['a optional', 'a people']);
});

test('callers that ask at the same time share one request', async () => {
  const { get, sent } = openRead();
  await Promise.all([get('a'), get('a'), get('b')]);
  expect(sent).toEqual(['a optional', 'b optional']);
});

test('a read for which a person waits does not wait for a queued one in the background', async () => {
  const { get, server } = openRead();
  const never = Promise.withResolvers<number>();
  server.answer = () => never.promise;
  const background = get('a');
  server.answer = () => 7;
  expect(await get('a', { waiting: true })).toMatchObject({ value: 7 });
  never.resolve(1);
  await background;
});

test('a failure is not cached', async () => {
  const { get, refuse, accept } = openRead();
  refuse(503);
  expect(await get('a')).toMatchObject({ gap: 'no-answer', status: 503 });
  accept();
  expect(await get('a')).toMatchObject({ known: true });
});

test.for([403, 404])('a %i is remembered for ten minutes, for its service only', async (status) => {
  const { get, sent, off, time, refuse, accept } = openRead();
  refuse(status);
  await get('a');
  accept();
  time.ms = 10 * MINUTE - 1;
  expect(await get('a')).toMatchObject({ known: false, status });
  expect(await get('b')).toMatchObject({ known: true });
  time.ms = 10 * MINUTE;
  expect(await get('a')).toMatchObject({ known: true });
  expect([sent, off]).toEqual([['a optional', 'b optional', 'a optional'], []]);
});

test('a fresh read is sent to a service that was refused before, and clears that', async () => {
  const { get, sent, refuse, accept } = openRead();
  refuse(404);
  await get('a');
  accept();
  expect(await get('a', { fresh: true })).toMatchObject({ known: true });
  expect(await get('a')).toMatchObject({ known: true });
  expect(sent).toHaveLength(2);
});

test('a missing route switches the capability off once, for every service', async () => {
  const { get, sent, off, refuse } = openRead();
  refuse(405);
  await Promise.all([get('a'), get('b')]);
  expect(await get('c', { fresh: true })).toMatchObject({ gap: 'no-route', status: 405 });
  expect(sent).toHaveLength(2);
  const permission = 'service:view-backups';
  expect(off).toEqual([{ capability: 'backups', gap: 'no-route', status: 405, permission }]);
});

test('a refusal of a read of the whole organization switches it off', async () => {
  const { get, off, refuse } = openRead({ isOfAll: true });
  refuse(403);
  await get('all');
  expect(off).toMatchObject([{ gap: 'refused', status: 403 }]);
});

test('an error that is not a failed call is thrown', async () => {
  const { get, server } = openRead();
  server.answer = () => Promise.reject(new TypeError('a defect'));
  await expect(get('a')).rejects.toThrow('a defect');
});
