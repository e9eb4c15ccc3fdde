import { expect, test } from 'vitest';
import type { PostResult } from '../../src/domain/answer.ts';
import type { ChannelId } from '../../src/domain/change.ts';
import type { EventOf } from '../../src/domain/log-events.ts';
import type { Log } from '../../src/log/log.ts';
import {
  endWithoutPost,
  type PostCalls,
  type PostOutcome,
  postAtMostOnce,
} from '../../src/log/posts.ts';
import { onEngines } from '../storage/engines.ts';
import { freshLog, installation, KEYS, rowsIn, write } from './logs.ts';

const NAME = 'digest/C1/2026-11-20';
const at = { channel: 'C1' as ChannelId, ts: '1.2' };

/** A channel that counts its posts, and shows the mark of each. */
function channel(answer: () => PostResult = () => ({ ok: true, at })) {
  const seen = { posts: 0, shows: false };
  const calls: PostCalls = {
    find: async () => (seen.shows ? at : null),
    post: async () => {
      seen.posts += 1;
      return answer();
    },
  };
  return { seen, calls };
}

const lastWhy = async (log: Log) => JSON.parse((await rowsIn(log.store)).at(-1)?.body ?? '').why;
const neverAsked = () => Promise.reject(new Error('the channel was asked'));
const types = async (log: Log) => (await rowsIn(log.store)).map(({ type }) => type);

onEngines('a digest is posted once, however often it is due', async (engine) => {
  const { open } = await installation(engine);
  const processes = [await open(), await open()];
  const { seen, calls } = channel();
  const due = [...processes, ...processes, ...processes];
  const outcomes = await Promise.all(due.map((log) => postAtMostOnce(log, NAME, calls)));
  expect(outcomes.toSorted()).toEqual(['posted', ...Array.from({ length: 5 }, () => 'taken')]);
  expect(await postAtMostOnce(processes[0] as Log, NAME, calls)).toBe('taken');
  expect(seen.posts).toBe(1);
});

onEngines('a digest that Slack refuses for now is posted later', async (engine) => {
  const log = await freshLog(engine);
  const limited = channel(() => ({ ok: false, why: 'ratelimited', again: true }));
  expect(await postAtMostOnce(log, NAME, limited.calls)).toBe('again');
  expect(await postAtMostOnce(log, NAME, channel().calls)).toBe('posted');
  expect(await types(log)).toEqual(['posting', 'not-posted', 'posting', 'posted']);
});

onEngines('a digest that Slack refuses for good is missed', async (engine) => {
  const log = await freshLog(engine);
  const archived = channel(() => ({ ok: false, why: 'is_archived', again: false }));
  expect(await postAtMostOnce(log, NAME, archived.calls)).toBe('missed');
  expect(await lastWhy(log)).toBe('Slack refused it (is_archived)');
  const { seen, calls } = channel();
  expect(await postAtMostOnce(log, NAME, { ...calls, find: neverAsked })).toBe('taken');
  expect(seen.posts).toBe(0);
});

test('a digest whose post had no answer is looked for, and not posted again', async () => {
  let now = 1_000;
  const { open } = await installation('sqlite');
  const log = await open(KEYS, { now: () => now });
  const { seen, calls } = channel(() => {
    throw new Error('socket hang up');
  });
  await expect(postAtMostOnce(log, NAME, calls)).rejects.toThrow('socket hang up');
  expect(await postAtMostOnce(log, NAME, calls)).toBe('taken');
  now += 10 * 60_000;
  seen.shows = true;
  expect(await postAtMostOnce(log, NAME, calls)).toBe('found');
  expect(await types(log)).toEqual(['posting', 'posted']);
  expect(seen.posts).toBe(1);
});

test('a digest whose process crashed before the post is missed', async () => {
  let now = 1_000;
  const { open } = await installation('sqlite');
  const log = await open(KEYS, { now: () => now });
  const crashed = channel(() => {
    throw new Error('killed');
  });
  await expect(postAtMostOnce(log, NAME, crashed.calls)).rejects.toThrow('killed');
  now += 10 * 60_000;
  const { seen, calls } = channel();
  expect(await postAtMostOnce(log, NAME, calls)).toBe('missed');
  expect(await lastWhy(log)).toBe('Signalbox stopped or lost the connection while it posted');
  expect(seen.posts).toBe(0);
});

const posting = { type: 'posting', nonce: 'n', until: 2_000 } as const;
const why = { why: 'the digest was paused' };

// The digest is ended at 2,000; `null`: the channel is not asked.
test.for<
  readonly [readonly EventOf<typeof NAME>[], boolean | null, PostOutcome, string, ...string[]]
>([
  [[], null, 'missed', 'missed', 'left-out'],
  [[posting], false, 'missed', 'missed', 'left-out'],
  [[posting], true, 'found', 'posted', 'posted'],
  [[{ ...posting, until: 2_001 }], false, 'taken', 'posting', 'posting'],
  [[{ type: 'posted', ...at }], null, 'taken', 'posted', 'posted'],
  [[{ type: 'missed', why: 'x' }], null, 'taken', 'missed', 'missed'],
  [[{ type: 'left-out' }], null, 'taken', 'left-out', 'left-out'],
])(
  'after %j, and with it in the channel (%s), ending a digest answers %s: %s or %s',
  async ([events, shows, outcome, ...lasts]) => {
    for (const [index, end] of ([why, 'left-out'] as const).entries()) {
      const log = await (await installation('sqlite')).open(KEYS, { now: () => 2_000 });
      if (events.length > 0) await write(log, NAME, ...events);
      const find = shows === null ? neverAsked : async () => (shows ? at : null);
      expect(await endWithoutPost(log, NAME, end, { find })).toBe(outcome);
      const found = await types(log);
      expect(found.at(-1)).toBe(lasts[index]);
      expect(found).toHaveLength(events.length + (outcome === 'taken' ? 0 : 1));
      if (end === why && outcome === 'missed') expect(await lastWhy(log)).toBe(why.why);
    }
  },
);

test('a late answer of the first process does not overwrite what the second one has recorded', async () => {
  let now = 1_000;
  const { open } = await installation('sqlite');
  const log = await open(KEYS, { now: () => now });
  const { promise, resolve } = Promise.withResolvers<PostResult>();
  const slow = postAtMostOnce(log, NAME, { find: async () => null, post: () => promise });
  await expect.poll(() => types(log)).toEqual(['posting']);
  now += 10 * 60_000;
  expect(await postAtMostOnce(log, NAME, channel().calls)).toBe('missed');
  resolve({ ok: true, at });
  expect(await slow).toBe('taken');
  expect(await types(log)).toEqual(['posting', 'missed']);
});

onEngines(
  'a digest that stands in the channel is not posted after the log has lost it',
  async (engine) => {
    const log = await freshLog(engine);
    const { seen, calls } = channel();
    seen.shows = true;
    expect(await postAtMostOnce(log, NAME, calls)).toBe('found');
    expect(seen.posts).toBe(0);
  },
);

onEngines('nothing is posted where the channel cannot be read', async (engine) => {
  const log = await freshLog(engine);
  const { seen, calls } = channel();
  const find = async () => {
    throw new Error('Slack did not answer');
  };
  await expect(postAtMostOnce(log, NAME, { ...calls, find })).rejects.toThrow(
    'Slack did not answer',
  );
  expect(seen.posts).toBe(0);
  expect(await types(log)).toEqual([]);
});
