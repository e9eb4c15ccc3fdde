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

const UNKNOWN = { how: 'unknown' } as const;
const RUNNING = { ...UNKNOWN, before: readAs({ state: 'running' }) };
const SIZE = { minReplicaMemoryGb: 16, maxReplicaMemoryGb: 64 };

const stop = (over: Parameters<typeof sentChange>[2] = RUNNING) =>
  sentChange('service stop', { command: 'stop' }, over);

test.for<[string, Sent, Fields]>([
  ['stop', stop(), { state: 'stopped' }],
  [
    'start',
    sentChange(
      'service start',
      { command: 'start' },
      { ...UNKNOWN, before: readAs({ state: 'stopped' }) },
    ),
    { state: 'running' },
  ],
  [
    'scale',
    sentChange('service scale', SIZE, {
      ...UNKNOWN,
      before: readAs({ minReplicaMemoryGb: 16, maxReplicaMemoryGb: 32 }),
    }),
    SIZE,
  ],
])('an unknown %s is settled by a reading that only it explains', async ([, change, shown]) => {
  const { server, passAt, context, id, waiting } = await startFollowing(change);
  server.one = shown;
  await passAt(0);
  const settled = await passAt(5);
  expect(settled).toMatchObject({
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

/** Passes twice and returns why nothing was settled. */
async function gapOf(change: Sent, shown: Fields, prepare?: Prepare): Promise<EvidenceGap | null> {
  const following = await startFollowing(change);
  await prepare?.(following);
  following.server.one = shown;
  await following.passAt(0);
  const after = await following.passAt(5);
  expect(after.state).toBe('unknown');
  expect(after.resolution).toBeNull();
  return after.followUp?.why ?? null;
}
type Following = Awaited<ReturnType<typeof startFollowing>>;
type Prepare = (following: Following) => Promise<unknown>;

test('an unknown stop is not settled while the service was stopped before the send', async () => {
  const before = { ...UNKNOWN, before: readAs({ state: 'stopped' }) };
  expect(await gapOf(stop(before), { state: 'stopped' })).toBe('was-so-before');
});

test('an unknown stop is not settled when the service was on its way to a stop before the send', async () => {
  const before = { ...UNKNOWN, before: readAs({ state: 'stopping' }) };
  expect(await gapOf(stop(before), { state: 'stopped' })).toBe('was-so-before');
});

test('an unknown stop is not settled when the state before the send was not reported', async () => {
  const before = { ...UNKNOWN, before: readAs({ numReplicas: 2 }) };
  expect(await gapOf(stop(before), { state: 'stopped' })).toBe('before-unknown');
});

test('an unknown stop is not settled when the state before the send is from an older reply', async () => {
  const seen = { fields: { state: 'running' }, seenAt: NOON, source: 'reply to service start' };
  expect(await gapOf(stop({ ...UNKNOWN, before: seen }), { state: 'stopped' })).toBe(
    'before-unknown',
  );
});

test('an unknown stop is not settled when the state could not be read again before the send', async () => {
  const change = stop({ ...RUNNING, isUnverified: true });
  expect(await gapOf(change, { state: 'stopped' })).toBe('before-unknown');
});

test('an unknown stop is not settled when the service was never seen before the send', async () => {
  expect(await gapOf(stop(UNKNOWN), { state: 'stopped' })).toBe('before-unknown');
});

test('an unknown stop is not settled when another change of the service was sent since', async () => {
  const other = (following: Following) => following.sendOther('service stop', minutes(0.5));
  expect(await gapOf(stop(), { state: 'stopped' }, other)).toBe('changed-since');
});

test('an unknown stop is not settled while the service is on its way to a stop', async () => {
  expect(await gapOf(stop(), { state: 'stopping' })).toBe('under-way');
});

test('a service that was stopping before the send is no sign that the request arrived', async () => {
  const before = { ...UNKNOWN, before: readAs({ state: 'stopping' }) };
  expect(await gapOf(stop(before), { state: 'stopping' })).toBe('not-as-requested');
});

test('an unknown stop is not settled as failed while the service runs', async () => {
  expect(await gapOf(stop(), { state: 'running' })).toBe('not-as-requested');
});

test('an unknown scale is not settled when only one of two values is as requested', async () => {
  const before = readAs({ minReplicaMemoryGb: 8, maxReplicaMemoryGb: 32 });
  const scale = sentChange('service scale', SIZE, { ...UNKNOWN, before });
  expect(await gapOf(scale, { ...SIZE, maxReplicaMemoryGb: 32 })).toBe('not-as-requested');
});

test('an unknown scale is not settled when the server leaves one value out', async () => {
  const before = readAs({ minReplicaMemoryGb: 8, maxReplicaMemoryGb: 32 });
  const scale = sentChange('service scale', SIZE, { ...UNKNOWN, before });
  expect(await gapOf(scale, { minReplicaMemoryGb: 16 })).toBe('not-as-requested');
});

test('an unknown scale is not settled when the size was as requested before the send', async () => {
  const scale = sentChange('service scale', SIZE, { ...UNKNOWN, before: readAs(SIZE) });
  expect(await gapOf(scale, SIZE)).toBe('was-so-before');
});

test('an unknown scale is not settled when one value before the send is unknown', async () => {
  const before = readAs({ minReplicaMemoryGb: 16 });
  const scale = sentChange('service scale', SIZE, { ...UNKNOWN, before });
  expect(await gapOf(scale, SIZE)).toBe('before-unknown');
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

test('an unanswered creation of a service is never settled, and its candidates are listed', async () => {
  const body = { name: 'analytics eu' };
  const target = { ...PLAN.target, kind: 'new service', id: 'analytics eu' } as const;
  const plan = { target, sends: 'POST services', body };
  const change: Sent = { command: 'service create', plan, how: 'unknown' };
  const { server, passAt, asked } = await startFollowing(change);
  const at = (minute: number) => minutes(minute).toISOString();
  server.listed = [
    { id: 'new', name: 'Analytics EU', state: 'provisioning', createdAt: at(0.1) },
    { id: 'old', name: 'analytics eu', state: 'running', createdAt: at(-600) },
    { id: 'other', name: 'analytics us', state: 'running', createdAt: at(0.1) },
    { id: 'undated', name: 'analytics eu', state: null, createdAt: null },
  ];
  await passAt(0);
  const after = await passAt(5);
  expect(after).toMatchObject({
    state: 'unknown',
    followUp: {
      why: 'creation',
      candidates: [
        { id: 'new', name: 'Analytics EU', state: 'provisioning', createdAt: minutes(0.1) },
        { id: 'undated', createdAt: null },
      ],
    },
  });
  expect(asked).toEqual(['services {"fresh":true,"organization":"acme"}']);
});

test('an unanswered creation of an endpoint is never settled, and its candidates are listed', async () => {
  const body = { description: 'orders feed', type: 'VPC_ENDPOINT_SERVICE' };
  const change = sentChange('endpoint create', body, UNKNOWN);
  const { server, passAt, asked } = await startFollowing(change);
  server.listed = [
    { id: 'e1', description: 'orders feed', type: 'VPC_ENDPOINT_SERVICE', status: 'Ready' },
    { id: 'e2', description: 'orders feed', type: 'VPC_RESOURCE', status: 'Ready' },
  ];
  await passAt(0);
  expect((await passAt(5))?.followUp).toMatchObject({
    why: 'creation',
    candidates: [{ id: 'e1', name: 'orders feed', state: 'Ready', createdAt: null }],
  });
  expect(asked).toEqual(['endpoints {"fresh":true,"organization":"acme"}']);
});
