import { expect, test } from 'vitest';
import type { FollowUp } from '../../src/domain/change.ts';
import type { UnknownRead } from '../../src/servers/optional-reads.ts';
import { ben, minutes, moved, PLAN } from './context.ts';
import { type Fields, NO_ANSWER, type Sent, sentChange, startFollowing } from './followed.ts';

const MINUTE_S = 60;
const stop = (over: Parameters<typeof sentChange>[2] = {}) =>
  sentChange('service stop', { command: 'stop' }, over);
const SIZE = { minReplicaMemoryGb: 16, maxReplicaMemoryGb: 64 };
const scale = () => sentChange('service scale', SIZE);

const created = (command: string, createdId: string, how: Sent['how'] = 'succeeded'): Sent => {
  const kind = command === 'service create' ? 'new service' : 'service';
  const plan = { target: { ...PLAN.target, kind } as const, sends: 'POST services' };
  return { command, plan, how, ...(how === 'succeeded' && { createdId }) };
};

const start = () => sentChange('service start', { command: 'start' });
const service = () => created('service create', 'new-1');
const endpoint = () => created('endpoint create', 'e-1');
const scaledTo = (effectiveMaxReplicaMemoryGb: number, entry = {}) => {
  return { ...SIZE, currentScaling: { effectiveMaxReplicaMemoryGb, ...entry } };
};

/** A change whose first pass, which reads nothing, has ended. The server shows these values. */
async function reading(change: Sent = stop(), shown: Fields | UnknownRead = { state: 'stopping' }) {
  const all = await startFollowing(change);
  all.server.one = shown;
  await all.passAt(0);
  const reports = async () => (await all.waiting()).filter((kind) => kind.startsWith('follow-up'));
  return { ...all, reports };
}

test.for<[string, Sent, Fields, FollowUp['state']]>([
  ['a stop, when the service is stopped', stop(), { state: 'stopped' }, 'settled'],
  ['no stop, while the service is stopping', stop(), { state: 'stopping' }, 'open'],
  ['no stop, in a state that is not known', stop(), { state: 'hovering' }, 'open'],
  ['a stop as failed, when the service failed', stop(), { state: 'failed' }, 'failed'],
  ['a stop as failed, when it is gone', stop(), { state: 'terminated' }, 'failed'],
  ['a stop as failed, when it is deleted', stop(), { state: 'softdeleted' }, 'failed'],
  ['a start, when the service runs', start(), { state: 'running' }, 'settled'],
  ['a start, when the service is idle', start(), { state: 'idle' }, 'settled'],
  ['a scale, when the sizes are saved', scale(), SIZE, 'settled'],
  ['a scale, when the sizes are applied', scale(), scaledTo(64), 'settled'],
  ['no scale, while older sizes are applied', scale(), scaledTo(32), 'open'],
  ['a scale under a schedule', scale(), scaledTo(32, { activeEntryId: 'e1' }), 'settled'],
  ['no scale, while one size is old', scale(), { ...SIZE, maxReplicaMemoryGb: 32 }, 'open'],
  ['a creation, when the service runs', service(), { state: 'running' }, 'settled'],
  ['no creation, while it is provisioning', service(), { state: 'provisioning' }, 'open'],
  ['an endpoint, when it is ready', endpoint(), { status: 'Ready' }, 'settled'],
  ['no endpoint before acceptance', endpoint(), { status: 'PendingAcceptance' }, 'open'],
  ['an endpoint as failed, when it is rejected', endpoint(), { status: 'Rejected' }, 'failed'],
])('a reading settles %s', async ([, change, shown, state]) => {
  const { passAt, reports } = await reading(change, shown);
  expect((await passAt(5)).followUp).toMatchObject({ state });
  expect(await reports()).toHaveLength(state === 'open' ? 0 : 1);
});

test('a missing state is unknown, and the service is read again', async () => {
  const { passAt } = await reading(stop(), { numReplicas: 2 });
  const { followUp } = await passAt(5);
  expect(followUp).toMatchObject({
    state: 'open',
    seen: { text: 'the server does not report the state' },
  });
});

test('a target is read after 5 s, each 10 s in the first minute, and then each 30 s', async () => {
  const { server, passAt, asked } = await startFollowing(stop());
  server.one = { state: 'stopping' };
  const readAt: number[] = [];
  for (let second = 0; second <= 150; second += 5) {
    const before = asked.length;
    await passAt(second);
    if (asked.length > before) readAt.push(second);
  }
  expect(readAt).toEqual([5, 15, 25, 35, 45, 55, 65, 95, 125]);
  expect(asked[0]).toBe('service {"fresh":true,"organization":"acme"}');
});

test('a change that is not settled after 30 minutes is given up, and reported once', async () => {
  const { passAt, asked, reports } = await reading();
  await passAt(5);
  expect((await passAt(29 * MINUTE_S)).followUp?.state).toBe('open');
  expect((await passAt(30 * MINUTE_S)).followUp).toMatchObject({
    state: 'given-up',
    seen: { text: 'stopping', at: new Date(minutes(1).getTime() + 5_000) },
  });
  const reads = asked.length;
  await passAt(60 * MINUTE_S);
  expect(asked).toHaveLength(reads);
  expect(await reports()).toHaveLength(1);
});

test('an unknown outcome is read until a person resolves it', async () => {
  const { passAt, asked, context, id } = await reading(stop({ how: 'unknown' }), {
    state: 'running',
  });
  await passAt(5);
  await passAt(40 * MINUTE_S);
  // After half an hour, it is read each ten minutes.
  await passAt(49 * MINUTE_S);
  const later = await passAt(51 * MINUTE_S);
  expect(asked).toHaveLength(3);
  // The time beside the buttons is recent.
  expect(later.followUp?.seen?.at).toEqual(new Date(minutes(1).getTime() + 51 * 60_000));
  await moved(context, id, { type: 'resolved', by: ben, as: 'failed', note: 'it runs' });
  expect((await passAt(62 * MINUTE_S)).followUp?.state).toBe('closed');
  expect(asked).toHaveLength(3);
});

test('a newer change of the same service ends the readings', async () => {
  const { passAt, sendOther, reports } = await reading();
  await passAt(5);
  await sendOther('service start', minutes(1.5));
  expect((await passAt(35)).followUp?.state).toBe('superseded');
  expect(await reports()).toEqual([]);
});

test('a new endpoint of the same service does not end the readings', async () => {
  const { passAt, sendOther } = await reading();
  await sendOther('endpoint create', minutes(1.5));
  expect((await passAt(35)).followUp?.state).toBe('open');
});

const lost = (command: string, name: string) => sentChange(command, { name }, { how: 'unknown' });
/** Gaps of a server that does not permit the read, and of one that may answer the next one. */
const [ENDS, CONTINUES] = [
  ['refused', 'no-route', 'off'],
  ['no-answer', 'unreadable', 'not-found', 'not-running', 'key-rejected'],
] as const;

test.for(
  [...ENDS, ...CONTINUES].flatMap((gap) => [
    { gap, what: 'service', change: stop() },
    { gap, what: 'endpoint', change: endpoint() },
  ]),
)('a read of the $what with the gap $gap ends the readings or is repeated', async (row) => {
  const { gap, change } = row;
  const { passAt, asked, reports } = await reading(change, { ...NO_ANSWER, gap });
  const isEnded = ENDS.some((each) => each === gap);
  const state = isEnded ? 'unreadable' : 'open';
  expect((await passAt(5)).followUp).toMatchObject({ state, gap: NO_ANSWER.why, seen: null });
  await passAt(60);
  expect(asked).toHaveLength(isEnded ? 1 : 2);
  expect(await reports()).toEqual([]);
});

test.for(
  [...ENDS, ...CONTINUES].flatMap((gap) => [
    { gap, what: 'services', change: lost('service create', 'new') },
    { gap, what: 'endpoints', change: lost('endpoint create', 'new') },
  ]),
)('for an unanswered creation, the list of $what with the gap $gap is repeated', async (row) => {
  const { gap, change } = row;
  const { server, passAt, asked } = await startFollowing(change);
  server.listed = { ...NO_ANSWER, gap };
  await passAt(0);
  const after = await passAt(5);
  expect(after).toMatchObject({ state: 'unknown', followUp: { state: 'open', candidates: [] } });
  expect(after.followUp?.gap).toBe(NO_ANSWER.why);
  await passAt(60);
  // A server that refuses the list is asked again after ten minutes.
  expect(asked).toHaveLength(ENDS.some((each) => each === gap) ? 1 : 2);
  await passAt(11 * MINUTE_S);
  expect(asked.length).toBeGreaterThan(1);
});

test('a service that cannot be read for half an hour is given up as unread', async () => {
  const { server, passAt, waiting } = await reading();
  await passAt(5);
  server.one = NO_ANSWER;
  const { followUp } = await passAt(30 * MINUTE_S);
  expect(followUp).toMatchObject({ state: 'given-up', gap: NO_ANSWER.why });
  expect(followUp?.seen?.text).toBe('stopping');
  expect(await waiting()).toContain(`follow-up/${followUp?.revision}`);
});

test('a read without an answer is repeated, and the last value is kept', async () => {
  const { server, passAt } = await reading();
  await passAt(5);
  server.one = NO_ANSWER;
  expect((await passAt(15)).followUp).toMatchObject({
    ...{ state: 'open', gap: NO_ANSWER.why },
    seen: { text: 'stopping' },
  });
  server.one = { state: 'stopped' };
  expect((await passAt(25)).followUp).toMatchObject({ state: 'settled', gap: null });
});

test('the card is drawn again only when its values change', async () => {
  const { server, passAt, waiting, draw } = await reading();
  await passAt(5);
  await draw();
  await passAt(15);
  await passAt(25);
  expect(await waiting()).toEqual(['follow']);
  server.one = { state: 'stopped' };
  await passAt(35);
  expect(await waiting()).toEqual(['card', 'follow-up/3']);
});

test('the card says at once that the target is followed', async () => {
  const { passAt, waiting, draw, asked } = await startFollowing(stop());
  await draw();
  expect((await passAt(0)).followUp).toMatchObject({ state: 'open', seen: null });
  expect(await waiting()).toEqual(['card', 'follow']);
  expect(asked).toEqual([]);
});

test('without the optional reads nothing is followed', async () => {
  const { passAt, waiting, asked } = await startFollowing(stop(), { isOn: false });
  expect((await passAt(0)).followUp).toBeUndefined();
  await passAt(60);
  expect(asked).toEqual([]);
  expect(await waiting()).not.toContain('follow');
});

test('a creation that a person resolved is not followed: its id is unknown', async () => {
  const { passAt, asked, context, id } = await startFollowing(
    created('service create', '', 'unknown'),
  );
  await passAt(0);
  await moved(context, id, { type: 'resolved', by: ben, as: 'succeeded', note: 'it is there' });
  expect((await passAt(5)).followUp?.state).toBe('closed');
  expect(asked).toEqual([]);
});
