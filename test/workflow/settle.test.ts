import { expect, test } from 'vitest';
import type { EvidenceGap } from '../../src/domain/change.ts';
import { transaction } from '../../src/storage/index.ts';
import { jobKinds } from '../../src/workflow/background.ts';
import { saveFollowUp } from '../../src/workflow/store.ts';
import { ben, eventsOf, minutes, moved, NOON, PLAN, STAGING } from './context.ts';
import {
  type Fields,
  NO_ANSWER,
  readAs,
  type Sent,
  sentChange,
  startFollowing,
} from './followed.ts';

const from = (state: string) => readAs({ state });
const UNKNOWN = { how: 'unknown' } as const;
const RUNNING = { ...UNKNOWN, before: from('running') };
const SIZE = { minReplicaMemoryGb: 16, maxReplicaMemoryGb: 64 };

const stop = (over: Parameters<typeof sentChange>[2] = RUNNING) =>
  sentChange('service stop', { command: 'stop' }, over);

const scaleFrom = (sizes: Partial<typeof SIZE>) =>
  sentChange('service scale', SIZE, { ...UNKNOWN, before: readAs(sizes) });
const SMALL = { minReplicaMemoryGb: 8, maxReplicaMemoryGb: 32 };
const replied = { fields: { state: 'running' }, seenAt: NOON, source: 'reply to service start' };

test.for<[string, Sent, Fields]>([
  ['stop', stop(), { state: 'stopped' }],
  [
    'start',
    sentChange('service start', { command: 'start' }, { ...UNKNOWN, before: from('stopped') }),
    { state: 'running' },
  ],
  ['scale', scaleFrom({ minReplicaMemoryGb: 16, maxReplicaMemoryGb: 32 }), SIZE],
])('an unknown %s is settled by a reading that only it explains', async ([, change, shown]) => {
  const { server, passAt, context, id, waiting } = await startFollowing(change);
  server.one = shown;
  await passAt(0);
  expect(await passAt(5)).toMatchObject({
    state: 'succeeded',
    resolution: { by: 'signalbox', happened: true, evidence: { beforeAt: NOON } },
    followUp: { state: 'settled' },
  });
  const [event] = (await eventsOf(context, `change/${id}`)).slice(-1);
  expect(event).toMatchObject({
    ...{ type: 'resolved', by: 'signalbox', as: 'succeeded' },
    reading: { beforeAt: NOON },
  });
  const target = await eventsOf(context, `target/acme/service/${STAGING.id}`);
  expect(target.at(-1)).toMatchObject({ type: 'released', change: id });
  expect(await waiting()).toContain(`thread/${event?.version}`);
});

async function expectOpen(why: EvidenceGap, change: Sent, shown: Fields, other = false) {
  const { server, sendOther, passAt } = await startFollowing(change);
  if (other) await sendOther('service stop', minutes(0.5));
  server.one = shown;
  await passAt(0);
  const after = await passAt(5);
  expect(after).toMatchObject({ state: 'unknown', resolution: null, followUp: { why } });
}

test.for<[string, EvidenceGap, Parameters<typeof stop>[0], string?]>([
  ['was stopped before the send', 'was-so-before', { before: from('stopped') }],
  ['was on its way to a stop before the send', 'was-so-before', { before: from('stopping') }],
  ['had no state before the send', 'before-unknown', { before: readAs({ numReplicas: 2 }) }],
  ['is known before the send by an older reply', 'before-unknown', { before: replied }],
  ['could not be read again before the send', 'before-unknown', { ...RUNNING, isUnverified: true }],
  ['was never seen before the send', 'before-unknown', {}],
  ['is on its way to a stop', 'under-way', RUNNING, 'stopping'],
  ['was on its way, and still is', 'not-as-requested', { before: from('stopping') }, 'stopping'],
  ['runs', 'not-as-requested', RUNNING, 'running'],
])('an unknown stop is not settled when the service %s', async (row) => {
  const [, why, over, state = 'stopped'] = row;
  await expectOpen(why, stop({ ...UNKNOWN, ...over }), { state });
});

test('an unknown stop is not settled when another change of the service was sent since', async () => {
  await expectOpen('changed-since', stop(), { state: 'stopped' }, true);
});

test.for<[string, EvidenceGap, Partial<typeof SIZE>, Partial<typeof SIZE>]>([
  [
    'one of two values is as requested',
    'not-as-requested',
    SMALL,
    { ...SMALL, minReplicaMemoryGb: 16 },
  ],
  ['the server leaves one value out', 'not-as-requested', SMALL, { minReplicaMemoryGb: 16 }],
  ['the size was as requested before the send', 'was-so-before', SIZE, SIZE],
  ['one value before the send is unknown', 'before-unknown', { minReplicaMemoryGb: 16 }, SIZE],
])('an unknown scale is not settled when %s', async ([, why, before, shown]) => {
  await expectOpen(why, scaleFrom(before), shown);
});

test('an unknown outcome is not settled by a reading that is older than the outcome', async () => {
  const { context, server, passAt, id, asked, current } = await startFollowing(stop());
  server.one = { state: 'stopped' };
  await passAt(0);
  // The clock was set back after the outcome was recorded.
  const early = { ...context, now: () => minutes(0.5) };
  const kind = jobKinds(early).follow;
  expect(await kind.run({ key: id, again: false, attempts: 1 })).toBeInstanceOf(Date);
  expect(asked).toHaveLength(1);
  expect((await current()).state).toBe('unknown');
  expect((await passAt(5)).state).toBe('succeeded');
});

test('an unknown outcome is not settled by a failed read, and the card says why', async () => {
  const { server, passAt } = await startFollowing(stop());
  server.one = NO_ANSWER;
  await passAt(0);
  const after = await passAt(5);
  expect(after).toMatchObject({ state: 'unknown', followUp: { gap: NO_ANSWER.why, seen: null } });
});

test('a stored reading settles nothing: it is for people only', async () => {
  const { context, id, passAt, current } = await startFollowing(stop());
  await passAt(0);
  const seen = { text: 'stopped', at: minutes(1) };
  const stored = { state: 'settled', gap: null, why: null, candidates: [], revision: 2 } as const;
  await transaction(context.store, (tx) => saveFollowUp(tx, id, { ...stored, seen }));
  await passAt(60);
  expect((await current()).state).toBe('unknown');
});

test('an unknown outcome that a person resolved during the read is left to that person', async () => {
  const { passAt, context, server, id } = await startFollowing(stop());
  await passAt(0);
  server.one = { state: 'stopped' };
  server.during = () =>
    moved(context, id, { type: 'resolved', by: ben, as: 'failed', note: 'it runs' });
  const after = await passAt(5);
  expect(after.state).toBe('failed');
  expect(after.resolution?.by).toBe(ben);
});

const MADE = { name: 'analytics eu' };
const TARGET = { ...PLAN.target, kind: 'new service', id: MADE.name } as const;
const SERVICE: Sent = {
  ...{ command: 'service create', how: 'unknown' },
  plan: { target: TARGET, sends: 'POST services', body: MADE },
};
const ENDPOINT = { description: 'orders feed', type: 'VPC_ENDPOINT_SERVICE' };
const at = (minute: number) => ({ createdAt: minutes(minute).toISOString() });

test.for<[string, Sent, Fields[], object[]]>([
  [
    'services',
    SERVICE,
    [
      { id: 'new', name: 'Analytics EU', state: 'provisioning', ...at(0.1) },
      { id: 'old', name: 'analytics eu', state: 'running', ...at(-600) },
      { id: 'other', name: 'analytics us', state: 'running', ...at(0.1) },
      { id: 'undated', name: 'analytics eu', state: null, createdAt: null },
    ],
    [
      { id: 'new', name: 'Analytics EU', state: 'provisioning', createdAt: minutes(0.1) },
      { id: 'undated', createdAt: null },
    ],
  ],
  [
    'endpoints',
    sentChange('endpoint create', ENDPOINT, UNKNOWN),
    [
      { id: 'e1', ...ENDPOINT, status: 'Ready' },
      { id: 'e2', ...ENDPOINT, type: 'VPC_RESOURCE', status: 'Ready' },
    ],
    [{ id: 'e1', name: 'orders feed', state: 'Ready', createdAt: null }],
  ],
])('an unanswered creation is never settled, and its candidates are listed: %s', async (row) => {
  const [what, change, listed, candidates] = row;
  const { server, passAt, asked } = await startFollowing(change);
  server.listed = listed;
  await passAt(0);
  const followUp = { why: 'creation', candidates };
  expect(await passAt(5)).toMatchObject({ state: 'unknown', followUp });
  expect(asked).toEqual([`${what} {"fresh":true,"organization":"acme"}`]);
});
