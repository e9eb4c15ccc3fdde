import { pino } from 'pino';
import { expect, test } from 'vitest';
import { digestReader } from '../../src/costs/config.ts';
import { createDigestRun } from '../../src/costs/digest-posts.ts';
import { writeState } from '../../src/costs/store.ts';
import type { Channel, Poster, PostResult } from '../../src/domain/answer.ts';
import type { ChannelId } from '../../src/domain/change.ts';
import type { NewEvent } from '../../src/domain/log-events.ts';
import { append, type Log } from '../../src/log/index.ts';
import type { CostRow } from '../../src/maths/rows.ts';
import { microOf } from '../../src/maths/rows.ts';
import { transaction } from '../../src/storage/index.ts';
import { installation, KEYS, rowsIn } from '../log/logs.ts';
import { type Engine, onEngines } from '../storage/engines.ts';
import { costService, nineWeeks, scopeOf } from './facts.ts';
import { written } from './written.ts';

const COSTS = 'C0COSTS' as ChannelId;
const STAGING = costService('s-2', {
  ...{ name: 'staging', tags: ['dev'], warehouse: 'main', team: 'search' },
});
const readOptions = digestReader(
  scopeOf({
    services: new Map([['staging', 's-2']]),
    tags: ['dev'],
    warehouses: ['main'],
    teams: ['search'],
  }),
);

/** What the operators were told, in order. */
async function operatorsNotices({ store }: Log): Promise<readonly string[]> {
  const noticed = (await rowsIn(store)).filter(({ type }) => type === 'noticed');
  return noticed.map(({ body }) => JSON.parse(body ?? '{}').text);
}

/** A run over a log, with a channel that keeps what is posted into it. */
async function running(engine: Engine, options: object = {}) {
  const { open } = await installation(engine);
  const events = await open(KEYS, { now: () => stage.now.getTime() });
  const { store } = events;
  const reading = readOptions({ channel: '#costs', days: 'daily', at: '09:30', ...options });
  if (!reading.ok) throw new Error(JSON.stringify(reading.problems));
  const stage = {
    now: new Date(0),
    rows: nineWeeks() as readonly CostRow[],
    posts: [] as string[],
    bodies: [] as string[],
    refusals: [] as (PostResult | Error)[],
    /** The marks of the messages in the channel. */
    marks: [] as string[],
    outside: false,
    /** What was read of the report and of Slack's channels. */
    reads: [] as string[],
  };
  const configured = [reading.value];
  const room: Channel = { id: COSTS, name: 'costs', outside: false, joined: true };
  const found = () => ({ ok: true, room: { ...room, outside: stage.outside } }) as const;
  const postAnswer: Poster['postToChannel'] = async (channel, answer, threadTs, mark) => {
    const { title } = answer;
    const refusal = stage.refusals.shift();
    if (refusal instanceof Error) throw refusal;
    if (refusal) return refusal;
    if (mark) stage.marks.push(mark);
    if (!threadTs) stage.bodies.push(written(answer));
    if (!threadTs) stage.posts.push(`${stage.now.toISOString().slice(5, 16)} ${title}`);
    return { ok: true, at: { channel, ts: '1.1' } } as const;
  };
  /** A process that begins now: it knows what the log says. */
  const process = () =>
    createDigestRun({
      store,
      events,
      configured,
      readOptions,
      messenger: {
        postToChannel: postAnswer,
        findPost: async ({ channel }, mark) =>
          stage.marks.includes(mark) ? { channel, ts: '1.1' } : null,
        findChannels: async (wanted) => {
          stage.reads.push(wanted.join());
          return new Map(wanted.map((word) => [word, found()]));
        },
      },
      costs: async () => {
        stage.reads.push('costs');
        return { rows: stage.rows, fetchedAt: stage.now, problems: [], gaps: [] };
      },
      floor: {},
      budgets: [],
      services: () => [STAGING],
      log: pino({ level: 'silent' }),
      now: () => stage.now,
      pause: async () => undefined,
    });
  let run = process();
  const at = async (time: string) => {
    stage.now = new Date(`2026-11-${time}Z`);
    return run();
  };
  const restart = () => {
    run = process();
  };
  return { stage, at, events, restart, configured };
}

onEngines('a round that is not due yet says so: it shows no end of an outage', async (engine) => {
  const { at } = await running(engine);
  expect(await at('20T05:00:00')).not.toBe('not-due');
  expect(await at('20T05:00:29')).toBe('not-due');
  expect(await at('20T05:00:30')).not.toBe('not-due');
});

onEngines('every day it is about yesterday, whatever is final', async (engine) => {
  const { stage, at } = await running(engine);
  for (const day of [20, 21, 22, 23, 24]) {
    stage.rows = nineWeeks(`2026-11-${day}`, day % 2 === 0 ? 2 : 9);
    for (const time of ['09:29', '09:31', '09:45', '10:01']) await at(`${day}T${time}`);
  }
  expect(stage.posts.map((title) => title.replace(/ · .*/, ''))).toMatchInlineSnapshot(`
    [
      "11-20T09:31 Yesterday, Thu 19 Nov: 145 credits so far, as usual",
      "11-21T09:31 Yesterday, Fri 20 Nov: 147 credits so far, as usual",
      "11-22T09:31 Yesterday, Sat 21 Nov: 65 credits so far, as usual",
      "11-23T09:31 Yesterday, Sun 22 Nov: 66 credits so far, as usual",
      "11-24T09:31 Yesterday, Mon 23 Nov: 142 credits so far, as usual",
    ]
  `);
});

test('digests of one time share their reads, and all wait where Slack asks one to wait', async () => {
  const { stage, at, configured } = await running('sqlite');
  configured.push(...configured.map((one) => ({ ...one, key: '#search', channel: '#search' })));
  stage.refusals.push({ ok: false, why: 'ratelimited', again: true });
  await at('20T09:31');
  expect(stage.posts).toEqual([]);
  expect(stage.reads).toEqual(['costs', '#costs,#search']);
  await at('20T09:32');
  expect(stage.posts).toHaveLength(2);
});

test('days that no digest reported are named once, with their sums', async () => {
  const { stage, at } = await running('sqlite', { days: ['mon', 'fri'] });
  stage.rows = nineWeeks('2026-11-20');
  await at('20T09:31');
  stage.rows = nineWeeks('2026-11-23');
  await at('23T09:31');
  expect(stage.posts[1]).toContain('Yesterday, Sun 22 Nov: ');
  expect(stage.bodies[1]).toContain('not reported before: Fri 20 Nov 147.2, Sat 21 Nov 64.5');
});

test.for<[string, object, string | null]>([
  ['week', { period: 'week' }, '3 changes made without Signalbox'],
  ['week of a service', { period: 'week', on: { services: ['staging'] } }, '1 change made'],
  ['week of a team', { period: 'week', on: { teams: ['search'] } }, '1 change made'],
  ['day', {}, null],
])('the digest of a %s counts what was made elsewhere: %o', async ([, { ...options }, words]) => {
  const { stage, at, events } = await running('sqlite', { days: 'mon', ...options });
  const found = (day: string, service: string, group: string): NewEvent => {
    const madeAt = new Date(`${day}T10:00Z`);
    const facts = { id: group, madeAt, service, name: service, what: 'Stopped', by: 'by x' };
    const where = { channel: '#ops', group };
    return { stream: `elsewhere/${day}`, event: { type: 'found', ...facts, ...where } };
  };
  const all = [
    found('2026-11-15', 's-2', 'the week before'),
    found('2026-11-16', 's-2', 'a'),
    found('2026-11-16', 's-2', 'a'),
    found('2026-11-19', 's-unknown', 'b'),
    found('2026-11-22', 's-3', 'c'),
    found('2026-11-23', 's-2', 'today'),
  ];
  await append(events, async () => ({ events: all, result: null }));
  stage.rows = nineWeeks('2026-11-23');
  await at('23T09:31');
  expect(stage.bodies).toHaveLength(1);
  if (words === null) expect(stage.bodies[0]).not.toContain('made without');
  else expect(stage.bodies[0]).toContain(words);
});

test('under a lasting rate limit, operators read within 15 minutes that digests are late, once an hour', async () => {
  const { events, stage, at, restart } = await running('sqlite');
  const limit = { ok: false, why: 'ratelimited', again: true } as const;
  stage.refusals.push(...Array.from({ length: 9 }, () => limit));
  for (const time of ['09:31', '09:39']) await at(`20T${time}`);
  expect(await operatorsNotices(events)).toEqual([]);
  for (const time of ['09:41', '09:42', '09:59']) await at(`20T${time}`);
  restart();
  await at('20T09:59');
  const text =
    'The cost digest of #costs is 10 minutes late. Signalbox retries it for six hours. The log has the reason.';
  expect(await operatorsNotices(events)).toEqual([text]);
  await at('20T10:01');
  expect(await operatorsNotices(events)).toEqual([text, text]);
  stage.refusals.length = 0;
  await at('20T10:02');
  expect(stage.posts).toHaveLength(1);
});

test('a permanently refused post is recorded as missed and reported once', async () => {
  const { events, stage, at } = await running('sqlite');
  stage.refusals.push({ ok: false, why: 'is_archived', again: false });
  for (const time of ['20T09:31', '20T10:05', '20T11:00']) await at(time);
  expect(stage.posts).toEqual([]);
  expect(await operatorsNotices(events)).toEqual([
    'The cost digest of #costs for Fri 20 Nov was not posted: Slack refused it (is_archived).',
  ]);
});

test('a channel gets no digest while it is shared with another workspace', async () => {
  const { events, stage, at } = await running('sqlite');
  await at('20T09:31');
  stage.outside = true;
  stage.rows = nineWeeks('2026-11-21');
  await at('21T09:31');
  await at('21T10:31');
  expect(stage.posts).toHaveLength(1);
  expect(await operatorsNotices(events)).toEqual([
    expect.stringContaining('Sat 21 Nov was not posted: the channel is shared'),
  ]);
  stage.outside = false;
  stage.rows = nineWeeks('2026-11-22');
  await at('22T09:31');
  expect(stage.posts[1]).toContain('Yesterday, Sat 21 Nov: ');
});

test('a quiet channel gets ordinary digests on Mondays only', async () => {
  const { stage, at } = await running('sqlite', { quiet: true });
  await at('20T09:31');
  stage.rows = nineWeeks('2026-11-22');
  await at('22T09:31');
  expect(stage.posts).toEqual([]);
  stage.rows = nineWeeks('2026-11-23');
  await at('23T09:31');
  expect(stage.posts).toHaveLength(1);
});

test('a last post that cannot be read stops no digest', async () => {
  const { stage, at, events } = await running('sqlite');
  await transaction(events.store, (tx) => writeState(tx, 'said:#costs', 'not JSON'));
  await at('20T09:31');
  expect(stage.posts).toHaveLength(1);
});

test('a digest of a process that crashed is reported if the channel does not have it', async () => {
  const { stage, at, restart, events } = await running('sqlite');
  stage.refusals.push(new Error('killed'));
  await at('20T09:31');
  restart();
  await at('20T09:35');
  expect(await operatorsNotices(events)).toEqual([]);
  await at('20T10:05');
  expect(stage.posts).toEqual([]);
  await at('21T09:31');
  expect(await operatorsNotices(events)).toEqual([
    'The cost digest of #costs for Fri 20 Nov was not posted: Signalbox stopped or lost the connection while it posted.',
  ]);
  expect(stage.posts).toHaveLength(1);
});

test('a database that has lost the post of a digest finds it in the channel', async () => {
  const { stage, at } = await running('sqlite');
  stage.marks.push('digest/#costs/2026-11-20');
  await at('20T09:31');
  expect(stage.posts).toEqual([]);
});

/** The report as it is on another day, where one day of one entity reads otherwise than before. */
function revised(today: string, entityId: string, credits: number): readonly CostRow[] {
  return nineWeeks(today).map((one) =>
    one.day === '2026-11-18' && one.entityId === entityId
      ? { ...one, total: microOf(credits), metrics: { computeCredits: microOf(credits) } }
      : one,
  );
}

test.for<[string, object, string, string | null]>([
  ['the organization', {}, 's-1', 'became final: Wed 18 Nov +100.0'],
  ['a service', { on: { services: ['staging'] } }, 's-2', 'became final: Wed 18 Nov +170.0'],
  ['a service, while another was revised', { on: { services: ['staging'] } }, 's-1', null],
])(
  'what changed until a day of %s became final is said once',
  async ([, options, whose, expected]) => {
    const { stage, at } = await running('sqlite', options);
    await at('20T09:31');
    stage.rows = revised('2026-11-21', whose, 200);
    await at('21T09:31');
    const line = (body = '') => /became final: [^·]*(?= ·)/.exec(body)?.[0] ?? null;
    expect(line(stage.bodies[1])).toBe(expected);
    stage.rows = revised('2026-11-22', whose, 200);
    await at('22T09:31');
    expect(stage.bodies).toHaveLength(3);
    expect(line(stage.bodies[2])).toBeNull();
  },
);
