import { pino } from 'pino';
import { expect, test } from 'vitest';
import { type CommandContext, commands } from '../../src/commands/index.ts';
import { type Answer, oneLineOf } from '../../src/domain/answer.ts';
import { evolvePost } from '../../src/domain/log-events.ts';
import type { Service } from '../../src/domain/targets.ts';
import { listChanges, openLog } from '../../src/log/index.ts';
import type { ActivityReading } from '../../src/servers/cloud-readings.ts';
import type { OptionalRead } from '../../src/servers/optional-reads.ts';
import type { WorkflowContext } from '../../src/workflow/context.ts';
import { elsewhereKind } from '../../src/workflow/elsewhere.ts';
import { policyOf } from '../domain/policy-fixtures.ts';
import {
  ORGANIZATION as ACME,
  aChange,
  ben,
  createTestContext,
  eventsOf,
  minutes,
  moved,
  NONCE,
  NOON,
  newId,
  RULE,
  STAGING,
} from './context.ts';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
const AUDIT = '#db-audit';
const SEARCH: Service = { ...STAGING, id: 's-search', name: 'search', tags: ['eu'] };
const POLICY = policyOf([{ ...RULE, on: { tags: ['eu'] }, channel: '#search' }, RULE]);
const ONCE = { key: ACME, attempts: 1, again: false };
const CHANGES = new Map(
  commands.flatMap((one) => (one.kind === 'change' ? [[one.name, one]] : [])),
);

const ENTRY: ActivityReading = {
  ...{ id: 'a1', createdAt: minutes(3).toISOString(), type: 'service_stop', actorType: 'user' },
  ...{ actorDetails: 'mara@example.com', serviceId: STAGING.id, isOwnKey: false },
};
const OWN = { actorType: 'api', actorDetails: 'key k1', isOwnKey: true };

/** A watch that began at noon. `list` replaces what the server lists. */
async function watched() {
  const server = { listed: [] as readonly ActivityReading[], reads: 0, periods: [] as unknown[] };
  const unread = { why: null as string | null };
  const lines: string[] = [];
  const activities = async (period: unknown): Promise<OptionalRead<readonly ActivityReading[]>> => {
    server.reads += 1;
    server.periods.push(period);
    const { why } = unread;
    if (why !== null) return { known: false, gap: 'no-answer', why, status: null };
    return { known: true, value: server.listed, readAt: NOON };
  };
  const { context, clock, pass } = await createTestContext({
    policy: POLICY,
    commands: CHANGES,
    services: () => [STAGING, SEARCH],
    log: pino({ level: 'info' }, { write: (line) => void lines.push(JSON.parse(line).msg) }),
    // Only the activities are read.
    commandContext: () => ({ reads: { cloud: { activities } } }) as unknown as CommandContext,
  });
  const options = { isOn: true, audit: AUDIT };
  const kind = elsewhereKind(context, options);
  expect(await kind.run(ONCE)).toEqual(minutes(2));
  /** Lists these entries from now on, reads them, and returns all messages. */
  const read = async (entries: readonly Partial<ActivityReading>[], by = kind) => {
    server.listed = entries.map((one, index) => ({ ...ENTRY, id: `a${index}`, ...one }));
    pass(2 * MINUTE);
    await by.run(ONCE);
    return messages(context);
  };
  const titles = async (...given: Parameters<typeof read>) =>
    (await read(...given)).map(({ answer }) => answer.title);
  return { context, clock, pass, options, kind, read, titles, server, unread, lines };
}

async function messages({ events }: Pick<WorkflowContext, 'events'>) {
  const posts = await events.loadAll('post', evolvePost);
  return [...posts].map(([name, { state }]) => ({
    name,
    channel: state?.announced?.channel,
    version: state?.announced?.version,
    // Composed by the job.
    answer: state?.announced?.answer as unknown as Answer,
  }));
}

test('a change made elsewhere is named with its actor, once, with several replicas and after a restart', async () => {
  const { context, options, read, kind, pass } = await watched();
  const [message, ...others] = await read([{}]);
  expect(others).toEqual([]);
  expect(message).toMatchObject({
    ...{ channel: AUDIT, version: 1 },
    answer: {
      title: 'staging: stopped in the console by mara@example.com',
      parts: [
        { kind: 'lines', lines: [['Stopped, ', { at: minutes(3) }]] },
        { kind: 'note', text: 'Not made with Signalbox.' },
        { kind: 'offers', offers: [{ label: 'Show service', line: 'service show staging' }] },
      ],
    },
  });
  const replica = elsewhereKind(
    { ...context, events: await openLog(context.store, context.events.keys) },
    options,
  );
  const both = [{ id: 'a0' }, { id: 'a9', serviceId: SEARCH.id }];
  pass(MINUTE);
  await Promise.all([read(both), read(both, replica), kind.run(ONCE)]);
  expect((await messages(context)).map(({ version }) => version)).toEqual([1, 1]);
  pass(3 * DAY);
  await read(both, elsewhereKind(context, options));
  expect((await messages(context)).map(({ version }) => version)).toEqual([1, 1]);
});

test('its channel is that of the rule for such a change of the service, otherwise the audit channel', async () => {
  const { read } = await watched();
  const found = await read([
    { serviceId: SEARCH.id },
    { serviceId: STAGING.id },
    { serviceId: 's-unknown' },
    { serviceId: null },
  ]);
  expect(found.map(({ channel, answer }) => [answer.title.split(':')[0], channel]).sort()).toEqual([
    ['Service s-unknown', AUDIT],
    ['Service without an id', AUDIT],
    ['search', '#search'],
    ['staging', AUDIT],
  ]);
});

test('related changes are one message: of a service, by one actor, within five minutes', async () => {
  const { read, context } = await watched();
  const scaled = { type: 'service_update_autoscaling_memory', createdAt: minutes(7).toISOString() };
  await read([{}, { actorDetails: 'jo@example.com' }]);
  const all = [
    {},
    { actorDetails: 'jo@example.com' },
    scaled,
    // After midnight of no day, but more than five minutes after the first one.
    { ...scaled, createdAt: minutes(8.5).toISOString() },
  ];
  const found = await read(all);
  expect(found.map(({ answer, version }) => [answer.title, version]).sort()).toEqual([
    ['staging: 2 changes in the console by mara@example.com', 2],
    ['staging: memory scaled in the console by mara@example.com', 1],
    ['staging: stopped in the console by jo@example.com', 1],
  ]);
  expect(await eventsOf(context, 'elsewhere/2026-11-20')).toHaveLength(4);
});

test('the message lists ten of many related changes', async () => {
  const { read } = await watched();
  const [message] = await read(Array.from({ length: 13 }, () => ({})));
  expect(message?.answer.title).toBe('staging: 13 changes in the console by mara@example.com');
  const [lines, note] = message?.answer.parts ?? [];
  expect(lines?.kind === 'lines' && lines.lines.length).toBe(10);
  expect(note).toEqual({ kind: 'note', text: 'and 3 more. Not made with Signalbox.' });
});

test.for<[string, Partial<ActivityReading>]>([
  ['before the watch began', { createdAt: minutes(-1).toISOString() }],
  ['at no known time', { createdAt: null }],
  ['at no time', { createdAt: 'yesterday' }],
  ['on a day that was not asked for', { createdAt: minutes(3 * 24 * 60).toISOString() }],
  ['by the server', { actorType: 'system' }],
  ['by the service itself', { type: 'service_idle' }],
  ['to no service', { type: 'key_create', serviceId: null }],
])('what happened %s is not named', async ([, over]) => {
  const { titles } = await watched();
  expect(await titles([over])).toEqual([]);
});

test('what happens while extended reads are off is not named later', async () => {
  const { context, titles, options, pass, server } = await watched();
  const off = elsewhereKind(context, { ...options, isOn: false });
  expect(await off.run(ONCE)).toBe('done');
  const { reads } = server;
  expect(await off.run(ONCE)).toBe('done');
  expect(server.reads).toBe(reads);
  pass(HOUR);
  const on = elsewhereKind(context, options);
  expect(await titles([{ createdAt: minutes(30).toISOString() }], on)).toEqual([]);
  expect(await titles([{ createdAt: minutes(64).toISOString() }], on)).toHaveLength(1);
  const types = (await eventsOf(context, `elsewhere/${ACME}`)).map(({ type }) => type);
  expect(types).toEqual(['begun', 'ended', 'begun']);
});

test('the job of another organization, or of a day, ends', async () => {
  const { kind } = await watched();
  expect(await kind.run({ ...ONCE, key: '2026-11-20' })).toBe('done');
});

test('unreadable activities are one line of the log, and nothing is said about changes', async () => {
  const { titles, unread, lines } = await watched();
  unread.why = 'the server does not respond';
  for (let time = 0; time < 3; time += 1) expect(await titles([{}])).toEqual([]);
  unread.why = null;
  expect(await titles([{}])).toHaveLength(1);
  expect(lines).toEqual([
    'activities cannot be read: changes made elsewhere are not named until they can be',
    'activities are read again',
  ]);
});

test('a few days are read: since the last reading, and at a start since the last stop', async () => {
  const { context, options, read, server, pass } = await watched();
  pass(10 * DAY);
  await read([]);
  await read([]);
  await read([], elsewhereKind(context, options));
  expect(server.periods).toEqual([
    { from_date: '2026-11-20', to_date: '2026-11-20' },
    { from_date: '2026-11-24', to_date: '2026-11-30' },
    { from_date: '2026-11-29', to_date: '2026-11-30' },
    { from_date: '2026-11-24', to_date: '2026-11-30' },
  ]);
});

test('texts of the server are one bounded line each', async () => {
  const { read } = await watched();
  const hostile = `<!channel>\n*x* ${'y'.repeat(5_000)}`;
  const [message] = await read([
    { actorDetails: hostile, type: `service_${hostile}`, serviceId: hostile },
  ]);
  const { title = '', parts = [] } = message?.answer ?? {};
  expect(title.length).toBeLessThan(400);
  expect(JSON.stringify(parts).length).toBeLessThan(400);
  expect(`${title}${JSON.stringify(parts)}`).not.toContain('\\n');
  expect(title).toContain(oneLineOf(hostile, 100));
});

type Sent = 'executing' | 'succeeded' | 'unknown' | 'failed';
/** Sends a stop of staging at noon, which the server answered a second later. */
async function sentStop(state: Sent) {
  const all = await watched();
  await aChange(all.context, { state, answeredAt: new Date(NOON.getTime() + 1_000) });
  return all;
}

test.for<[string, Sent, Partial<ActivityReading>, 'own' | 'named']>([
  ['an answered request', 'succeeded', {}, 'own'],
  ['a request that is under way', 'executing', { createdAt: minutes(1.5).toISOString() }, 'own'],
  ['a request whose answer was lost', 'unknown', {}, 'own'],
  [
    'a lost request that the server applied hours later',
    'unknown',
    { createdAt: minutes(600).toISOString() },
    'own',
  ],
  ['a lost request, by another key', 'unknown', { isOwnKey: false }, 'named'],
  ['a lost request, of another type', 'unknown', { type: 'service_start' }, 'named'],
  ['a lost request, of another service', 'unknown', { serviceId: SEARCH.id }, 'named'],
  [
    'an answered request, five minutes later',
    'succeeded',
    { createdAt: minutes(5).toISOString() },
    'named',
  ],
  ['a request that the server refused', 'failed', {}, 'named'],
])('an entry that fits %s (%s): %o is %s', async ([, state, over, is]) => {
  const { titles, clock } = await sentStop(state);
  const at = new Date(NOON.getTime() + 500).toISOString();
  clock.now = minutes(600);
  const found = await titles([{ ...OWN, createdAt: at, ...over }]);
  expect(found).toHaveLength(is === 'own' ? 0 : 1);
});

test('a request explains one entry of its type: the nearest one', async () => {
  const { titles } = await sentStop('succeeded');
  const at = (seconds: number) => new Date(NOON.getTime() + seconds * 1_000).toISOString();
  const both = [
    { ...OWN, createdAt: at(45) },
    { ...OWN, createdAt: at(0.5) },
  ];
  const named = 'staging: stopped with the API key of Signalbox, but not by Signalbox';
  expect(await titles(both)).toEqual([named]);
  expect(await titles([...both, { ...OWN, createdAt: at(50) }])).toEqual([
    named.replace('stopped', '2 changes'),
  ]);
});

test('of two entries, that which is nearer to the claim is own, also if the clock of the server is behind', async () => {
  const { context, clock, titles, pass } = await watched();
  clock.now = minutes(10);
  await aChange(context, { state: 'succeeded', answeredAt: minutes(10.1) });
  const at = (minute: number) => ({ ...OWN, createdAt: minutes(minute).toISOString() });
  pass(MINUTE);
  expect(await titles([at(8.5)])).toHaveLength(1);
  expect(await titles([at(8.5), at(9.9)])).toHaveLength(1);
  const second = await watched();
  second.clock.now = minutes(10);
  await aChange(second.context, { state: 'succeeded', answeredAt: minutes(10.1) });
  const [message, ...others] = await second.read([at(8.5), at(9.2), at(10.05)]);
  expect(others).toEqual([]);
  expect(message?.answer.parts[0]).toEqual({
    kind: 'lines',
    lines: [
      ['Stopped, ', { at: minutes(8.5) }],
      ['Stopped, ', { at: minutes(9.2) }],
    ],
  });
});

test('a request explains no entry of another service', async () => {
  const { titles } = await sentStop('succeeded');
  const at = new Date(NOON.getTime() + 500).toISOString();
  const entries = [
    { ...OWN, createdAt: at, serviceId: SEARCH.id },
    { ...OWN, createdAt: at, type: 'service_start' },
  ];
  expect(await titles(entries)).toHaveLength(2);
});

test('a lost request that is applied after the next one is own', async () => {
  const { context, clock, titles } = await sentStop('unknown');
  const [lost] = await listChanges(context.events, { limit: 1 });
  clock.now = minutes(9);
  const resolved = { type: 'resolved', by: ben, as: 'failed', note: 'it runs' } as const;
  await moved(context, lost?.id ?? newId(), resolved);
  clock.now = minutes(10);
  await aChange(context, { state: 'succeeded', answeredAt: minutes(10.1) });
  const next = { ...OWN, createdAt: minutes(10.05).toISOString() };
  expect(await titles([next])).toEqual([]);
  clock.now = minutes(60);
  expect(await titles([next, { ...OWN, createdAt: minutes(59).toISOString() }])).toEqual([]);
});

test('the creation of a service is own, also if its answer was lost', async () => {
  for (const state of ['succeeded', 'unknown'] as const) {
    const { context, titles } = await watched();
    const target = { kind: 'new service', id: 'fresh', name: 'fresh' } as const;
    const { id } = await aChange(context, {
      ...{ state: 'executing', command: 'service create' },
      plan: { target: { ...target, tags: [], warehouse: null }, body: { name: 'fresh' } },
    });
    const answered = { nonce: NONCE, answeredAt: NOON, tookMs: 1, requestId: null };
    await moved(
      context,
      id,
      state === 'succeeded'
        ? { type: state, ...answered, reported: [], createdId: 'created' }
        : { type: state, ...answered, status: null, text: 'no answer' },
    );
    const created = { ...OWN, type: 'service_create', createdAt: NOON.toISOString() };
    if (state === 'succeeded')
      expect(await titles([{ ...created, id: 'x', serviceId: 'of a script' }])).toHaveLength(1);
    const before = state === 'succeeded' ? 1 : 0;
    expect(await titles([{ ...created, serviceId: 'created' }])).toHaveLength(before);
    const both = ['created', 'other'].map((serviceId) => ({ ...created, serviceId }));
    expect(await titles(both)).toHaveLength(before + 1);
  }
});
