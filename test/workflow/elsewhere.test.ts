import { expect, test } from 'vitest';
import { cleanText } from '../../src/base/text.ts';
import { type CommandContext, commands } from '../../src/commands/index.ts';
import type { Answer } from '../../src/domain/answer.ts';
import { evolvePost } from '../../src/domain/log-events.ts';
import type { Service } from '../../src/domain/targets.ts';
import { listChanges, openLog } from '../../src/log/index.ts';
import type { ActivityReading } from '../../src/servers/cloud-readings.ts';
import type { OptionalRead, ReadGap } from '../../src/servers/optional-reads.ts';
import type { WorkflowContext } from '../../src/workflow/context.ts';
import { elsewhereWatch } from '../../src/workflow/elsewhere.ts';
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
const CHANGES = new Map(
  commands.flatMap((one) => (one.kind === 'change' ? [[one.name, one]] : [])),
);

const at = (minute: number) => ({ createdAt: minutes(minute).toISOString() });
const ENTRY: ActivityReading = {
  ...{ id: 'a1', ...at(3), type: 'service_stop', actorType: 'user' },
  ...{ actorDetails: 'mara@example.com', serviceId: STAGING.id, isOwnKey: false },
};
const OWN = { actorType: 'api', actorDetails: 'key k1', isOwnKey: true };

/** A watch that began at noon. `list` replaces what the server lists. */
async function watched() {
  const server = { listed: [] as readonly ActivityReading[], reads: 0, periods: [] as unknown[] };
  const gone = { why: null as string | null, gap: 'no-answer' as ReadGap };
  const services = { all: [STAGING, SEARCH] as readonly Service[] };
  const activities = async (period: unknown): Promise<OptionalRead<readonly ActivityReading[]>> => {
    server.reads += 1;
    server.periods.push(period);
    const { why, gap } = gone;
    if (why !== null) return { known: false, gap, why, status: null };
    return { known: true, value: server.listed, readAt: NOON };
  };
  const { context, clock, pass } = await createTestContext({
    policy: POLICY,
    commands: CHANGES,
    services: () => services.all,
    // Only the activities are read.
    commandContext: () => ({ reads: { cloud: { activities } } }) as unknown as CommandContext,
  });
  const watch = elsewhereWatch(context, AUDIT);
  await watch();
  /** Lists these entries from now on, reads them, and returns all messages. */
  const read = async (entries: readonly Partial<ActivityReading>[], by = watch) => {
    server.listed = entries.map((one, index) => ({ ...ENTRY, id: `a${index}`, ...one }));
    pass(2 * MINUTE);
    await by();
    return messages(context);
  };
  const titles = async (...given: Parameters<typeof read>) =>
    (await read(...given)).map(({ answer }) => answer.title).sort();
  return { context, clock, pass, services, watch, read, titles, server, gone };
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

const openReplica = async ({ context }: { readonly context: WorkflowContext }) =>
  elsewhereWatch({ ...context, events: await openLog(context.store, context.events.keys) }, AUDIT);

test('a change made elsewhere is named with its actor, once, with several replicas and after a restart', async () => {
  const all = await watched();
  const { context, read, pass } = all;
  const [message, ...others] = await read([{}]);
  expect(others).toEqual([]);
  expect(message).toMatchObject({
    ...{ channel: AUDIT, version: 1 },
    answer: {
      title: 'Stopped in the console by mara@example.com: staging',
      parts: [
        { kind: 'lines', lines: [['staging: Stopped, ', { at: minutes(3) }]] },
        { kind: 'note', text: 'Not made with Signalbox.' },
        { kind: 'offers', offers: [{ label: 'Show service', line: `service show ${STAGING.id}` }] },
      ],
    },
  });
  const replicas = await Promise.all([openReplica(all), openReplica(all)]);
  const both = [{ id: 'a0' }, { id: 'a9', serviceId: SEARCH.id }];
  const versions = async () => (await messages(context)).map(({ version }) => version);
  pass(MINUTE);
  await Promise.all([read(both), ...replicas.map((one) => read(both, one))]);
  expect(await versions()).toEqual([1, 1]);
  pass(3 * DAY);
  await read(both, elsewhereWatch(context, AUDIT));
  expect(await versions()).toEqual([1, 1]);
});

test('activities of two organizations with one id are both named', async () => {
  const { context, titles } = await watched();
  const other = elsewhereWatch({ ...context, organization: 'other' }, AUDIT);
  await other();
  await titles([{ id: 'a0' }]);
  expect(await titles([{ id: 'a0', actorDetails: 'jo@example.com' }], other)).toEqual([
    'Stopped in the console by jo@example.com: staging',
    'Stopped in the console by mara@example.com: staging',
  ]);
});

test('its channel is that of the rule for such a change of the service, otherwise the audit channel', async () => {
  const { read } = await watched();
  const actors = ['mara', 'jo', 'ann', 'bo'];
  const services = [SEARCH.id, STAGING.id, 's-unknown', null];
  const found = await read(
    services.map((serviceId, index) => ({ serviceId, actorDetails: actors[index] ?? '' })),
  );
  expect(found.map(({ channel, answer }) => [answer.title, channel]).sort()).toEqual([
    ['Stopped in the console by ann: service s-unknown', AUDIT],
    ['Stopped in the console by bo: service without an id', AUDIT],
    ['Stopped in the console by jo: staging', AUDIT],
    ['Stopped in the console by mara: search', '#search'],
  ]);
});

test('related changes are one message: of a channel, by one actor, found within five minutes', async () => {
  const { read, context, pass } = await watched();
  const later = { type: 'service_update_autoscaling_memory', ...at(7) };
  await read([{}, { actorDetails: 'jo@example.com' }]);
  pass(2 * MINUTE);
  const related = [
    {},
    { actorDetails: 'jo@example.com' },
    { ...later, serviceId: 's-unknown' },
    { serviceId: SEARCH.id },
  ];
  await read(related);
  pass(2 * MINUTE);
  const found = await read([...related, later]);
  expect(found.map(({ answer, version }) => [answer.title, version]).sort()).toEqual([
    ['2 changes in the console by mara@example.com: staging, service s-unknown', 2],
    ['Memory scaled in the console by mara@example.com: staging', 1],
    ['Stopped in the console by jo@example.com: staging', 1],
    ['Stopped in the console by mara@example.com: search', 1],
  ]);
  expect(await eventsOf(context, 'elsewhere/2026-11-20')).toHaveLength(5);
});

test('without an audit channel, what no rule has a channel for is counted only', async () => {
  const { read, context } = await watched();
  const found = await read([{}, { serviceId: SEARCH.id }], elsewhereWatch(context, null));
  expect(found.map(({ channel }) => channel)).toEqual(['#search']);
  expect(await eventsOf(context, 'elsewhere/2026-11-20')).toHaveLength(2);
});

test('the message lists ten of many related changes', async () => {
  const { read } = await watched();
  const [message] = await read(Array.from({ length: 13 }, () => ({})));
  expect(message?.answer.title).toBe('13 changes in the console by mara@example.com: staging');
  const [lines, note] = message?.answer.parts ?? [];
  expect(lines?.kind === 'lines' && lines.lines.length).toBe(10);
  expect(note).toEqual({ kind: 'note', text: 'and 3 more. Not made with Signalbox.' });
});

test.for<[string, Partial<ActivityReading>]>([
  ['before the first start', at(-1)],
  ['at no known time', { createdAt: null }],
  ['at no time', { createdAt: 'yesterday' }],
  ['at an impossible time', { createdAt: '+999999-01-01T00:00:00Z' }],
  ['on a day that was not asked for', at(3 * 24 * 60)],
  ['by the server', { actorType: 'system' }],
  ['by the service itself', { type: 'service_idle' }],
  ['to no service', { type: 'key_create', serviceId: null }],
  ['of no known type', { type: null }],
])('what happened %s is not named', async ([, over]) => {
  const { titles } = await watched();
  expect(await titles([over])).toEqual([]);
});

test.for<[string, Partial<ActivityReading>, string]>([
  ['no actor', { actorType: null, actorDetails: null }, 'by an unknown actor'],
  ['a user without a name', { actorDetails: ' \u202e ' }, 'in the console by an unknown user'],
  ['another key', { actorType: 'api', actorDetails: 'key tf' }, 'by another API key (key tf)'],
  ['support', { actorType: 'support', actorDetails: null }, 'by support'],
])('an entry of %s is named: %o', async ([, over, by]) => {
  const { titles } = await watched();
  expect(await titles([over])).toEqual([`Stopped ${by}: staging`]);
});

test('what happens while extended reads are off is not named later', async () => {
  const { context, titles, pass, watch, gone, server } = await watched();
  Object.assign(gone, { why: 'contract', gap: 'off' });
  pass(HOUR);
  await watch();
  pass(HOUR);
  await watch();
  expect(server.reads).toBe(3);
  Object.assign(gone, { why: null });
  expect(await titles([at(100)])).toEqual([]);
  expect(await titles([at(100)])).toEqual([]);
  expect(await titles([at(123)])).toHaveLength(1);
  const types = (await eventsOf(context, `elsewhere/${ACME}`)).map(({ type }) => type);
  expect(types).toEqual(['begun', 'ended', 'begun']);
});

test('a failed read is reported to the log of upkeep, repeated two minutes later, and loses nothing', async () => {
  const { titles, gone, watch, pass, server, clock } = await watched();
  gone.why = '429';
  for (let time = 0; time < 3; time += 1)
    await expect(titles([{}])).rejects.toThrow('The activities cannot be read: 429');
  const { reads } = server;
  pass(MINUTE);
  await watch();
  expect(server.reads).toBe(reads);
  clock.now = new Date(minutes(3).getTime() + 3 * DAY);
  gone.why = null;
  expect(await titles([{}])).toHaveLength(1);
});

test('what the server lists late, twice, in any order or only for a while is named once', async () => {
  const { titles, clock } = await watched();
  const stopped = { id: 'one' };
  const started = { id: 'two', type: 'service_start', ...at(1) };
  clock.now = minutes(20 * 60);
  expect(await titles([stopped, stopped])).toHaveLength(1);
  expect(await titles([])).toHaveLength(1);
  expect(await titles([started, stopped])).toEqual([
    '2 changes in the console by mara@example.com: staging',
  ]);
  expect(await titles([stopped, started])).toHaveLength(1);
});

test('a service that was deleted or renamed meanwhile has the name that users know', async () => {
  const { titles, read, services, watch, pass } = await watched();
  services.all = [STAGING];
  const deleted = { type: 'service_delete', serviceId: SEARCH.id };
  const [message] = await read([deleted]);
  expect(message).toMatchObject({
    channel: '#search',
    answer: { title: 'Deleted in the console by mara@example.com: search' },
  });
  services.all = [{ ...STAGING, name: 'old' }];
  await watch();
  pass(10 * MINUTE);
  services.all = [{ ...STAGING, name: 'new' }];
  expect(await titles([deleted, { type: 'service_update_name' }])).toContain(
    'Renamed in the console by mara@example.com: new',
  );
});

test('a few days are read: since the last reading, and at a start since the last stop', async () => {
  const { context, read, server, pass } = await watched();
  pass(10 * DAY);
  await read([]);
  await read([]);
  await read([], elsewhereWatch(context, AUDIT));
  expect(server.periods).toEqual([
    { from_date: '2026-11-12', to_date: '2026-11-20' },
    { from_date: '2026-11-19', to_date: '2026-11-30' },
    { from_date: '2026-11-29', to_date: '2026-11-30' },
    { from_date: '2026-11-22', to_date: '2026-11-30' },
  ]);
});

test('texts of the server are one bounded line each, without what people cannot see', async () => {
  const { read } = await watched();
  const hostile = `<!channel>\n\u202e*x* ${'y'.repeat(5_000)}`;
  const [message] = await read([
    { actorDetails: hostile, type: `service_${hostile}`, serviceId: hostile },
  ]);
  const { title = '', parts = [] } = message?.answer ?? {};
  expect(title.length).toBeLessThan(400);
  expect(JSON.stringify(parts).length).toBeLessThan(600);
  expect(`${title}${JSON.stringify(parts)}`).not.toMatch(/\\n|\u202e/);
  expect(title).toContain(cleanText(hostile, 100));
});

/** An entry with the key of Signalbox. */
const own = (minute: number, over: Partial<ActivityReading> = {}) => ({
  ...{ ...OWN, ...at(minute) },
  ...over,
});

type Sent = 'executing' | 'succeeded' | 'unknown' | 'failed';
/** Sends a stop of staging at noon, which the server answered a second later. */
async function sentStop(state: Sent) {
  const all = await watched();
  await aChange(all.context, { state, answeredAt: minutes(0.02) });
  return all;
}

test.for<[string, Sent, Partial<ActivityReading>, 'own' | 'named']>([
  ['an answered request', 'succeeded', {}, 'own'],
  ['a request that is under way', 'executing', at(1.5), 'own'],
  ['a request whose answer was lost', 'unknown', {}, 'own'],
  ['a lost request that the server applied hours later', 'unknown', at(600), 'own'],
  ['a lost request, by another key', 'unknown', { isOwnKey: false }, 'named'],
  ['an answered request, by another key', 'succeeded', { isOwnKey: false }, 'named'],
  ['a lost request, of another type', 'unknown', { type: 'service_start' }, 'named'],
  ['a lost request, of another service', 'unknown', { serviceId: SEARCH.id }, 'named'],
  ['an answered request, by a server whose clock is ahead', 'succeeded', at(4.9), 'own'],
  ['an answered request, by a server whose clock is behind', 'succeeded', at(-4.9), 'own'],
  ['an answered request, six minutes later', 'succeeded', at(6), 'named'],
  ['a request that the server refused', 'failed', {}, 'named'],
])('an entry that fits %s (%s): %o is %s', async ([, state, over, is]) => {
  const { titles, clock } = await sentStop(state);
  clock.now = minutes(600);
  const found = await titles([own(0.01, over)]);
  expect(found).toHaveLength(is === 'own' ? 0 : 1);
});

test('a request explains one entry of its type: the nearest one', async () => {
  const { titles } = await sentStop('succeeded');
  const both = [own(0.75), own(0.01)];
  const named = 'Stopped with the API key of Signalbox, but not by Signalbox: staging';
  expect(await titles(both)).toEqual([named]);
  expect(await titles([...both, own(0.8)])).toEqual([named.replace('Stopped', '2 changes')]);
});

/** A watch, and stops of staging that were sent at these minutes and answered some seconds later. */
async function sentAt(...sends: readonly (readonly [number, Sent])[]) {
  const all = await watched();
  for (const [minute, state] of sends) {
    all.clock.now = minutes(minute);
    await aChange(all.context, { state, answeredAt: minutes(minute + 0.1) });
  }
  all.pass(MINUTE);
  return all;
}

test('of two entries, that which is nearer to the claim is own, also if the clock of the server is behind', async () => {
  const { titles } = await sentAt([10, 'succeeded']);
  // The other one could be own, until the own one is listed.
  expect(await titles([own(8.5)])).toEqual([]);
  expect(await titles([own(8.5), own(9.9)])).toHaveLength(1);
  const second = await sentAt([10, 'succeeded']);
  const [message, ...others] = await second.read([own(8.5), own(9.2), own(10.05)]);
  expect(others).toEqual([]);
  const lines = [8.5, 9.2].map((minute) => ['staging: Stopped, ', { at: minutes(minute) }]);
  expect(message?.answer.parts[0]).toEqual({ kind: 'lines', lines });
});

test('of two requests, the nearer one explains an entry only if no other entry needs it', async () => {
  const { titles } = await sentAt([10, 'succeeded'], [13, 'unknown']);
  // The first request alone explains an entry that is so much older than the second one.
  expect(await titles([own(7.5), own(11.4)])).toEqual([]);
  expect(await titles([own(7.5), own(11.4), own(7.6)])).toHaveLength(1);
});

test('a request explains no entry of another service', async () => {
  const { titles } = await sentStop('succeeded');
  // Its own service has an entry as well: otherwise, the request is not even read.
  const entries = [own(0.01, { serviceId: SEARCH.id }), own(0.01, { type: 'service_start' })];
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
  expect(await titles([own(10.05)])).toEqual([]);
  clock.now = minutes(60);
  expect(await titles([own(10.05), own(59)])).toEqual([]);
});

const FRESH = {
  kind: 'new service',
  id: 'fresh',
  name: 'fresh',
  tags: [],
  warehouse: null,
} as const;
const CREATION = { command: 'service create', plan: { target: FRESH, body: { name: 'fresh' } } };

test.for(['succeeded', 'unknown'] as const)('a creation that %s is own', async (state) => {
  const { context, read } = await watched();
  const { id } = await aChange(context, { ...CREATION, state: 'executing' });
  const answered = { nonce: NONCE, answeredAt: NOON, tookMs: 1, requestId: null };
  await moved(
    context,
    id,
    state === 'succeeded'
      ? { type: state, ...answered, reported: [], createdId: 'created' }
      : { type: state, ...answered, status: null, text: 'no answer' },
  );
  const found = async (...services: readonly string[]) => {
    await read(
      services.map((serviceId) => own(0, { type: 'service_create', id: serviceId, serviceId })),
    );
    return (await eventsOf(context, 'elsewhere/2026-11-20')).length;
  };
  const before = state === 'succeeded' ? 1 : 0;
  if (state === 'succeeded') expect(await found('of a script')).toBe(1);
  expect(await found('created')).toBe(before);
  expect(await found('created', 'other')).toBe(before + 1);
});

test('all that a creation without an answer causes is own, and nothing of another service', async () => {
  const { context, titles } = await watched();
  await aChange(context, { ...CREATION, state: 'unknown' });
  const all = ['service_start', 'service_update_ip_access_list', 'service_create'].map((type) =>
    own(0.1, { type, serviceId: 'fresh-id' }),
  );
  expect(await titles(all)).toEqual([]);
  expect(await titles([{ ...OWN, type: 'service_start', id: 'other' }])).toHaveLength(1);
});

test('a request with the previous key of Signalbox is own after the key was replaced', async () => {
  const { context, titles, read } = await sentAt([0, 'succeeded']);
  const previous = own(0.1, { isOwnKey: false });
  const terraform = { ...previous, ...at(3), actorDetails: 'key tf' };
  const started = elsewhereWatch(context, AUDIT);
  expect(await titles([previous], started)).toEqual([]);
  expect((await read([previous, terraform], started)).length).toBe(1);
});

test('a change of another program, while Signalbox was stopped, is not its lost request', async () => {
  const { context, titles } = await sentStop('unknown');
  const started = elsewhereWatch({ ...context, now: () => minutes(10) }, AUDIT);
  expect(await titles([{ ...OWN, isOwnKey: false }], started)).toHaveLength(1);
});
