import { expect, test } from 'vitest';
import type { FollowUp } from '../../src/domain/change.ts';
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

const ENTRY = { activeEntryId: 'e1', effectiveMaxReplicaMemoryGb: 32 };

test.for<[string, Sent, Fields, Partial<FollowUp>]>([
  ['a stop, when the service is stopped', stop(), { state: 'stopped' }, { state: 'settled' }],
  ['no stop, while the service is stopping', stop(), { state: 'stopping' }, { state: 'open' }],
  ['no stop, in a state that is not known', stop(), { state: 'hovering' }, { state: 'open' }],
  ['a stop as failed, when the service failed', stop(), { state: 'failed' }, { state: 'failed' }],
  ['a stop as failed, when it is gone', stop(), { state: 'terminated' }, { state: 'failed' }],
  ['a stop as failed, when it is deleted', stop(), { state: 'softdeleted' }, { state: 'failed' }],
  [
    'a start, when the service runs',
    sentChange('service start', { command: 'start' }),
    { state: 'running' },
    { state: 'settled' },
  ],
  [
    'a start, when the service is idle',
    sentChange('service start', { command: 'start' }),
    { state: 'idle' },
    { state: 'settled' },
  ],
  ['a scale, when the sizes are saved', scale(), SIZE, { state: 'settled' }],
  [
    'a scale, when the sizes are applied',
    scale(),
    { ...SIZE, currentScaling: { effectiveMaxReplicaMemoryGb: 64 } },
    { state: 'settled' },
  ],
  [
    'no scale, while older sizes are applied',
    scale(),
    { ...SIZE, currentScaling: { effectiveMaxReplicaMemoryGb: 32 } },
    { state: 'open' },
  ],
  [
    'a scale, when the entry of a schedule holds another size',
    scale(),
    { ...SIZE, currentScaling: ENTRY },
    { state: 'settled' },
  ],
  ['no scale, while one size is the old one', scale(), { ...SIZE, maxReplicaMemoryGb: 32 }, {}],
  [
    'a creation, when the service runs',
    created('service create', 'new-1'),
    { state: 'running' },
    { state: 'settled' },
  ],
  [
    'no creation, while the service is provisioning',
    created('service create', 'new-1'),
    { state: 'provisioning' },
    { state: 'open' },
  ],
  [
    'an endpoint, when it is ready',
    created('endpoint create', 'e-1'),
    { status: 'Ready' },
    { state: 'settled' },
  ],
  [
    'no endpoint, while it waits for acceptance',
    created('endpoint create', 'e-1'),
    { status: 'PendingAcceptance' },
    { state: 'open' },
  ],
  [
    'an endpoint as failed, when it is rejected',
    created('endpoint create', 'e-1'),
    { status: 'Rejected' },
    { state: 'failed' },
  ],
])('a reading settles %s', async ([, change, shown, expected]) => {
  const { server, passAt, waiting } = await startFollowing(change);
  server.one = shown;
  await passAt(0);
  const { followUp } = await passAt(5);
  expect(followUp).toMatchObject({ state: 'open', ...expected });
  const reports = (await waiting()).filter((kind) => kind.startsWith('follow-up'));
  expect(reports).toHaveLength(followUp?.state === 'open' ? 0 : 1);
});

test('a missing state is unknown, and the service is read again', async () => {
  const { server, passAt } = await startFollowing(stop());
  server.one = { numReplicas: 2 };
  await passAt(0);
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
  const { server, passAt, asked, waiting } = await startFollowing(stop());
  server.one = { state: 'stopping' };
  await passAt(0);
  await passAt(5);
  expect((await passAt(29 * MINUTE_S)).followUp?.state).toBe('open');
  expect((await passAt(30 * MINUTE_S)).followUp).toMatchObject({
    state: 'given-up',
    seen: { text: 'stopping', at: new Date(minutes(1).getTime() + 5_000) },
  });
  const reads = asked.length;
  await passAt(60 * MINUTE_S);
  expect(asked).toHaveLength(reads);
  expect((await waiting()).filter((kind) => kind.startsWith('follow-up'))).toHaveLength(1);
});

test('an unknown outcome is read until a person resolves it', async () => {
  const { server, passAt, asked, context, id } = await startFollowing(stop({ how: 'unknown' }));
  server.one = { state: 'running' };
  await passAt(0);
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
  const { server, passAt, sendOther, waiting } = await startFollowing(stop());
  server.one = { state: 'stopping' };
  await passAt(0);
  await passAt(5);
  await sendOther('service start', minutes(1.5));
  expect((await passAt(35)).followUp?.state).toBe('superseded');
  expect((await waiting()).filter((kind) => kind.startsWith('follow-up'))).toEqual([]);
});

test('a new endpoint of the same service does not end the readings', async () => {
  const { server, passAt, sendOther } = await startFollowing(stop());
  server.one = { state: 'stopping' };
  await passAt(0);
  await sendOther('endpoint create', minutes(1.5));
  expect((await passAt(35)).followUp?.state).toBe('open');
});

const ENDPOINT = () => created('endpoint create', 'e-1');
const lost = (command: string, name: string) => sentChange(command, { name }, { how: 'unknown' });
/** Gaps of a server that does not permit the read, and of one that may answer the next one. */
const [ENDS, CONTINUES] = [
  ['refused', 'no-route', 'off'],
  ['no-answer', 'unreadable', 'not-found', 'not-running', 'key-rejected'],
] as const;

test.for(
  [...ENDS, ...CONTINUES].flatMap((gap) => [
    { gap, what: 'service', change: stop() },
    { gap, what: 'endpoint', change: ENDPOINT() },
  ]),
)('a read of the $what with the gap $gap ends the readings or is repeated', async (row) => {
  const { gap, change } = row;
  const { server, passAt, asked, waiting } = await startFollowing(change);
  server.one = { ...NO_ANSWER, gap };
  await passAt(0);
  const isEnded = ENDS.some((each) => each === gap);
  const state = isEnded ? 'unreadable' : 'open';
  expect((await passAt(5)).followUp).toMatchObject({ state, gap: NO_ANSWER.why, seen: null });
  await passAt(60);
  expect(asked).toHaveLength(isEnded ? 1 : 2);
  expect((await waiting()).filter((kind) => kind.startsWith('follow-up'))).toEqual([]);
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
  const { server, passAt, waiting } = await startFollowing(stop());
  server.one = { state: 'stopping' };
  await passAt(0);
  await passAt(5);
  server.one = NO_ANSWER;
  const { followUp } = await passAt(30 * MINUTE_S);
  expect(followUp).toMatchObject({ state: 'given-up', gap: NO_ANSWER.why });
  expect(followUp?.seen?.text).toBe('stopping');
  expect(await waiting()).toContain(`follow-up/${followUp?.revision}`);
});

test('a read without an answer is repeated, and the last value is kept', async () => {
  const { server, passAt } = await startFollowing(stop());
  server.one = { state: 'stopping' };
  await passAt(0);
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
  const { server, passAt, waiting, draw } = await startFollowing(stop());
  server.one = { state: 'stopping' };
  await passAt(0);
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
