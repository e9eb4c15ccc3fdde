import { pino } from 'pino';
import { expect, test } from 'vitest';
import { type Announcement, announced, postKind } from '../../src/costs/announcements.ts';
import type { ChannelLookup, PostResult } from '../../src/domain/answer.ts';
import type { ChannelId } from '../../src/domain/change.ts';
import { append, type Log } from '../../src/log/index.ts';
import { claimJobs, transaction } from '../../src/storage/index.ts';
import { installation, KEYS, rowsIn } from '../log/logs.ts';
import { type Engine, onEngines } from '../storage/engines.ts';
import { ignoredMeasures } from '../workflow/ignored-measures.ts';

const COSTS = 'C0COSTS' as ChannelId;
const OPENED: Announcement = {
  name: 'post/incident-1',
  channel: '#costs',
  answer: { title: 'Unusual cost', parts: [{ kind: 'text', text: 'It costs more.' }] },
};
const MINUTE = 60_000;

/** The job of announcements over a log, with a channel that keeps what is posted into it. */
async function posting(engine: Engine = 'sqlite') {
  const clock = { now: Date.parse('2026-11-20T09:00:00Z') };
  const { open } = await installation(engine);
  const events = await open(KEYS, { now: () => clock.now });
  const room = { id: COSTS, name: 'costs', outside: false, joined: true };
  const stage = {
    found: { ok: true, room } as ChannelLookup,
    results: [] as (PostResult | Error)[],
    posts: [] as string[],
    marks: new Map<string, string>(),
  };
  const next = (ts: string) => {
    const result = stage.results.shift() ?? ({ ok: true, at: { channel: COSTS, ts } } as const);
    if (result instanceof Error) throw result;
    return result;
  };
  const kind = postKind({
    events,
    messenger: {
      postToChannel: async (_, { title }, _thread, mark = '') => {
        const ts = `${stage.posts.length + 1}.0`;
        const result = next(ts);
        if (result.ok) {
          stage.posts.push(title);
          stage.marks.set(mark, ts);
        }
        return result;
      },
      updateMessage: () => Promise.reject(new Error('Nothing is updated')),
      findPost: async ({ channel }, mark) => {
        const ts = stage.marks.get(mark);
        return ts === undefined ? null : { channel, ts };
      },
      findChannels: async (wanted) => new Map(wanted.map((word) => [word, stage.found])),
    },
    log: pino({ level: 'silent' }),
    measures: ignoredMeasures,
    now: () => new Date(clock.now),
  });
  const announce = (...all: readonly Announcement[]) =>
    append(events, async (locked) => ({
      ...(await announced(locked, all, locked.at)),
      result: null,
    }));
  const run = ({ name }: Announcement) => kind.run({ key: name.slice('post/'.length) });
  const pass = (ms: number) => {
    clock.now += ms;
  };
  return { events, stage, announce, run, pass };
}

const REFUSED = { ok: false, why: 'ratelimited', again: true } as const;

async function types({ store }: Log) {
  return (await rowsIn(store)).map(({ type }) => type);
}

async function noticed({ store }: Log): Promise<readonly string[]> {
  const rows = (await rowsIn(store)).filter(({ type }) => type === 'noticed');
  return rows.map(({ body }) => JSON.parse(body ?? '{}').text);
}

onEngines('an announcement is made and posted once', async (engine) => {
  const { events, stage, announce, run } = await posting(engine);
  await announce(OPENED);
  await announce(OPENED);
  const claim = { owner: 'one', now: 9e15, leaseMs: 1, lanes: [{ most: 9, kinds: ['post'] }] };
  const jobs = await transaction(events.store, (tx) => claimJobs(tx, claim));
  expect(jobs.map(({ key }) => key)).toEqual(['incident-1']);
  expect(await run(OPENED)).toBe('done');
  expect(await run(OPENED)).toBe('done');
  expect(stage.posts).toEqual(['Unusual cost']);
  expect(await types(events)).toEqual(['announced', 'posting', 'posted']);
});

test('a refused announcement is tried again for a day, then missed and reported once', async () => {
  const { events, stage, announce, run, pass } = await posting();
  await announce(OPENED);
  stage.results.push(REFUSED, REFUSED);
  expect(await run(OPENED)).toEqual({ waitsUntil: new Date('2026-11-20T09:00:30Z') });
  pass(24 * 60 * MINUTE);
  expect(await run(OPENED)).toBe('done');
  expect(stage.posts).toEqual([]);
  expect(await noticed(events)).toEqual([
    'The message "Unusual cost" for #costs was not posted: Slack refused it for 24 hours.',
  ]);
  expect(await run(OPENED)).toBe('done');
  expect(await noticed(events)).toHaveLength(1);
});

test('a channel that is shared with another workspace gets no announcement, which is reported', async () => {
  const { events, stage, announce, run } = await posting();
  await announce(OPENED);
  stage.found = { ok: true, room: { id: COSTS, name: 'costs', outside: true, joined: true } };
  expect(await run(OPENED)).toBe('done');
  expect(await noticed(events)).toEqual([
    'The message "Unusual cost" for #costs was not posted: the channel is shared with another workspace.',
  ]);
  expect(stage.posts).toEqual([]);
});

test('an announcement waits while Slack does not answer the lookup of its channel', async () => {
  const { events, stage, announce, run } = await posting();
  await announce(OPENED);
  stage.found = { ok: false, why: 'lookup-failed' };
  expect(await run(OPENED)).toEqual({ waitsUntil: new Date('2026-11-20T09:00:30Z') });
  expect(await types(events)).toEqual(['announced']);
});

test('an announcement that stands in the channel already is not posted again', async () => {
  const { events, stage, announce, run } = await posting();
  await announce(OPENED);
  stage.marks.set(OPENED.name, '1.0');
  expect(await run(OPENED)).toBe('done');
  expect(stage.posts).toEqual([]);
  expect(await types(events)).toEqual(['announced', 'posted']);
});
