import { expect, test } from 'vitest';
import type { Change, EvidenceGap } from '../../src/domain/change.ts';
import { lockHolder, lockTarget } from '../../src/log/old/permits.ts';
import { aChange, minutes, NOON, STAGING } from '../storage/example-change.ts';
import {
  type Fields,
  NO_ANSWER,
  NO_RESPONSE,
  readAs,
  sentChange,
  startFollowing,
} from '../workflow/followed.ts';

const UNKNOWN = { state: 'unknown', outcome: NO_RESPONSE } as const;
const RUNNING = { ...UNKNOWN, before: readAs({ state: 'running' }) };
const SIZE = { minReplicaMemoryGb: 16, maxReplicaMemoryGb: 64 };

const stop = (over: Parameters<typeof sentChange>[2] = RUNNING) =>
  sentChange('service stop', { command: 'stop' }, over);

test.for<[string, Change, Fields]>([
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
  const { server, passAt, context, events, waiting } = await startFollowing(change);
  await context.database.transaction((tx) => lockTarget(tx, STAGING, change.id, NOON));
  server.one = shown;
  await passAt(0);
  const settled = await passAt(5);
  expect(settled).toMatchObject({
    state: 'succeeded',
    resolution: { by: 'signalbox', happened: true, evidence: { beforeAt: NOON } },
  });
  expect((await events()).at(-1)).toMatchObject({
    kind: 'settled',
    from: 'unknown',
    to: 'succeeded',
    body: { by: 'signalbox', evidence: { beforeAt: NOON.toISOString() } },
  });
  expect(await lockHolder(context.database.db, STAGING)).toBeNull();
  expect(await waiting()).toContain('thread:succeeded');
});

/** Passes twice and returns why nothing was settled. */
async function gapOf(
  change: Change,
  shown: Fields,
  prepare?: Prepare,
): Promise<EvidenceGap | null> {
  const following = await startFollowing(change);
  await prepare?.(following);
  following.server.one = shown;
  await following.passAt(0);
  const after = await following.passAt(5);
  expect(after?.state).toBe('unknown');
  expect(after?.resolution).toBeNull();
  return after?.followUp?.why ?? null;
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
  const stateCheck = { kind: 'unverified', why: 'the server did not answer' } as const;
  expect(await gapOf(stop({ ...RUNNING, stateCheck }), { state: 'stopped' })).toBe(
    'before-unknown',
  );
});

test('an unknown stop is not settled when the service was never seen before the send', async () => {
  expect(await gapOf(stop(UNKNOWN), { state: 'stopped' })).toBe('before-unknown');
});

test('an unknown stop is not settled when another change of the service was sent since', async () => {
  const other = (following: Following) =>
    following.sendOther({ command: 'service stop', state: 'failed' }, minutes(0.5));
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

test('an unknown outcome is not settled while the audit trail has a problem', async () => {
  const following = await startFollowing(stop());
  const trail = { ...following.context.trail, problem: async () => 'an event is missing' };
  const broken = await startFollowing(stop(), { trail });
  broken.server.one = { state: 'stopped' };
  await broken.passAt(0);
  expect((await broken.passAt(5))?.followUp?.why).toBe('trail-problem');
  expect((await broken.current())?.state).toBe('unknown');
});

test('an unknown outcome is not settled when its row was modified in the database', async () => {
  const change = stop({ ...UNKNOWN, before: readAs({ state: 'stopped' }) });
  const modify = async ({ context }: Following) => {
    const plan = JSON.stringify({ ...change.plan, keptAsIs: [], before: { ...RUNNING.before } });
    await context.database.db.updateTable('change').set({ plan }).execute();
  };
  expect(await gapOf(change, { state: 'stopped' }, modify)).toBe('trail-problem');
});

test('an unknown outcome is not settled by a reading that is older than the outcome', async () => {
  const { server, passAt, asked, context, change, current } = await startFollowing(stop());
  server.one = { state: 'stopped' };
  await passAt(0);
  // The clock was set back after the outcome was recorded.
  const due = { next_at: NOON.toISOString() };
  await context.database.db.updateTable('follow_up').set(due).execute();
  await passAt(-30);
  expect(asked).toHaveLength(1);
  expect((await current())?.state).toBe('unknown');
  expect((await passAt(5))?.id).toBe(change.id);
  expect((await current())?.state).toBe('succeeded');
});

test('an unknown outcome is not settled by a failed read, and the card says why', async () => {
  const { server, passAt } = await startFollowing(stop());
  server.one = NO_ANSWER;
  await passAt(0);
  const after = await passAt(5);
  expect(after).toMatchObject({ state: 'unknown', followUp: { gap: NO_ANSWER.why, seen: null } });
});

test('an unknown outcome is not settled by a reading that another process stored', async () => {
  const { context, change, passAt, current } = await startFollowing(stop());
  await passAt(0);
  const shown = JSON.stringify({
    ...{ state: 'settled', gap: null, why: null, candidates: [], revision: 2 },
    seen: { text: 'stopped', at: minutes(1).toISOString() },
  });
  await context.database.db.updateTable('follow_up').set({ shown, next_at: null }).execute();
  await passAt(60);
  expect((await current())?.state).toBe('unknown');
  expect((await current())?.id).toBe(change.id);
});

test('an unknown outcome that a person resolved during the read is left to that person', async () => {
  const { passAt, context, server, current } = await startFollowing(stop());
  await passAt(0);
  server.one = { state: 'stopped' };
  const resolved = { state: 'failed', version: 2 } as const;
  server.during = () => context.database.db.updateTable('change').set(resolved).execute();
  await passAt(5);
  expect((await current())?.state).toBe('failed');
});

test('an unanswered creation of a service is never settled, and its candidates are listed', async () => {
  const { plan } = sentChange('service create', { name: 'analytics eu' });
  const target = { ...plan.target, kind: 'new service', id: 'analytics eu' } as const;
  const own = { ...plan, target, sends: 'POST services' };
  const change = aChange({ ...UNKNOWN, command: 'service create', plan: own });
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
  expect(asked).toEqual(['services {"fresh":true}']);
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
  expect(asked).toEqual(['endpoints {"fresh":true}']);
});
