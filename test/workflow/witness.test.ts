import { expect, test } from 'vitest';
import type { ChangeId, Position, State } from '../../src/domain/change.ts';
import { type EventOf, evolveSchedule } from '../../src/domain/log-events.ts';
import { LOST_HASH } from '../../src/domain/place.ts';
import { append, appendProblem, inForce, WentBack } from '../../src/log/index.ts';
import type { SeenMark, WorkflowContext } from '../../src/workflow/context.ts';
import { currentFreezes } from '../../src/workflow/target.ts';
import {
  checkChannels,
  isUnread,
  mendLog,
  watchLog,
  withRestore,
} from '../../src/workflow/witness.ts';
import { tamper } from '../log/logs.ts';
import {
  aChange,
  ana,
  channel,
  createTestContext,
  dueJobs,
  eventsOf,
  loaded,
  minutes,
  moved,
  newId,
  notices,
  PLAN,
  recorded,
} from './context.ts';
import { runnable } from './runnable.ts';

const AT = { channel: channel('CAPPROVALS'), ts: '1.0' };
const seen = (change: ChangeId, hash: string, over: Partial<SeenMark> = {}): SeenMark => ({
  ...{ version: 3, hash, change, schedule: null, at: AT, isCard: true, isFreeze: false, ...over },
});

/** A workflow whose channels show these marks. */
async function witnessed() {
  const marks: SeenMark[] = [];
  const all = await createTestContext({ messages: { readMarks: async () => marks } });
  const { context, shown } = all;
  const lost = () => shown.filter(({ name }) => name === 'drawLost').map(({ given }) => given);
  return { ...all, marks, lost, check: () => checkChannels(context) };
}

/** A change whose channel shows a mark of it that the log does not have. */
async function withForeign(example: Parameters<typeof aChange>[1] = {}) {
  const all = await witnessed();
  const change = await aChange(all.context, example);
  all.marks.push(seen(change.id, 'lost'));
  return { ...all, change, current: () => loaded(all.context, change.id) };
}

async function noticesIn(context: WorkflowContext): Promise<readonly string[]> {
  return (await notices(context)).map(({ text }) => text);
}

/** Puts a schedule in force, and returns whether it is paused. */
async function scheduleIn(context: WorkflowContext, id = newId()) {
  const service = { id: 's-1', name: 'ci' };
  const when = { stop: 'weekdays 20:00', start: null, zone: 'UTC', until: minutes(600) };
  const event = { type: 'created', change: id, by: ana, service, ...when } as const;
  await recorded(context, { stream: `schedule/${id}`, event });
  return async () =>
    (await context.events.load(`schedule/${id}`, evolveSchedule)).state?.isPaused ?? null;
}

test('a card whose post the log has lost is the card of its change again', async () => {
  const { context, marks, check } = await witnessed();
  const change = await aChange(context);
  await moved(context, change.id, { type: 'card-lost' });
  const [second, later] = ['2.0', '3.0'].map((ts) => ({ ...AT, ts })) as [Position, Position];
  marks.push(seen(change.id, change.hash, { at: later }), seen(change.id, change.hash, { at: AT }));
  await check();
  expect((await loaded(context, change.id)).card).toEqual(AT);
  // The card that the log knows was deleted, and another one stands.
  marks.splice(0, 2, seen(change.id, 'lost', { at: second }));
  await check();
  expect(await loaded(context, change.id)).toMatchObject({ state: 'stale', card: second });
});

test('of several cards of a change, only its own one keeps its buttons', async () => {
  const { context, marks, check, lost } = await witnessed();
  const change = await aChange(context);
  const { id, hash, version, card } = change;
  if (!card) throw new Error('It has a card');
  const at = (ts: string) => ({ ...card, ts });
  const mark = { version, hash, revision: 'other' };
  marks.push(seen(id, hash, { at: at('1.0') }), seen(id, hash, { at: card }));
  await check();
  expect(lost()).toEqual([[id, at('1.0'), mark]]);
  marks.splice(0, 1, seen(id, hash, { at: at('1.0'), ...mark }));
  await check();
  expect(lost()).toHaveLength(1);
  expect((await loaded(context, id)).state).toBe('pending');
});

test.for<[string, State, string | null, State, boolean]>([
  ['a mark that the log has', 'pending', null, 'pending', false],
  ['a card of a change that the log knows as a draft', 'draft', 'lost', 'stale', true],
  ['a card that says that it was lost before', 'draft', `${LOST_HASH}1`, 'stale', true],
  // People were told to request it again.
  ['such a card of a change that the log has', 'pending', `${LOST_HASH}2`, 'stale', false],
  ['a foreign mark of a change that is executing', 'executing', 'lost', 'unknown', false],
])('%s (%s) is answered', async ([, state, hash, becomes, isDrawn]) => {
  const { context, marks, check, lost } = await witnessed();
  const change = await aChange(context, { state });
  marks.push(seen(change.id, hash ?? change.hash, { at: change.card ?? AT }));
  await check();
  const { state: after, card } = await loaded(context, change.id);
  expect([after, card]).toEqual([becomes, change.card]);
  expect(lost()).toEqual(isDrawn ? [[change.id, AT, null]] : []);
  expect(await noticesIn(context)).toHaveLength(hash === null ? 0 : 1);
});

test('a card that says that its change was lost stays, as long as the log does not have the change', async () => {
  const { context, marks, check, lost } = await witnessed();
  marks.push(seen(newId(), `${LOST_HASH}1`));
  await check();
  expect([lost(), await noticesIn(context)]).toEqual([[], []]);
});

test('a foreign mark ends its change alone, and is reported to the operators', async () => {
  const { context, change, check, current } = await withForeign();
  const other = await aChange(context);
  const isPaused = await scheduleIn(context);
  await check();
  expect(await current()).toMatchObject({ state: 'stale', stopReason: 'restored' });
  expect((await loaded(context, other.id)).state).toBe('pending');
  expect(await isPaused()).toBe(false);
  expect(await noticesIn(context)).toEqual([expect.stringContaining(`Affected: ${change.id}.`)]);
});

test('a foreign mark on the card of a schedule pauses that schedule, and no other', async () => {
  const { context, marks, check } = await witnessed();
  const target = { ...PLAN.target, kind: 'schedule' } as const;
  const plan = { target, body: {} };
  const { id } = await aChange(context, { state: 'succeeded', plan });
  const isPaused = await scheduleIn(context, id);
  const isOtherPaused = await scheduleIn(context);
  const { hash = '' } = (await eventsOf(context, `schedule/${id}`)).at(-1) ?? {};
  marks.push(seen(id, hash));
  await check();
  expect(await isPaused()).toBe(false);
  // The log has lost that the schedule was paused or removed.
  marks.push(seen(id, 'lost'));
  await check();
  expect([await isPaused(), await isOtherPaused()]).toEqual([true, false]);
  expect(await noticesIn(context)).toEqual([expect.stringContaining(`schedule of ci (${id})`)]);
  await recorded(context, { stream: `schedule/${id}`, event: { type: 'resumed', by: ana } });
  await check();
  expect(await isPaused()).toBe(false);
});

test('a foreign mark on a change whose revert is due leaves the revert to people', async () => {
  const revert = { afterMs: 3_600_000, label: 'start', line: 'service start x' };
  const plan = { timing: { startAt: null, revert } };
  const { context, change, check } = await withForeign({ state: 'succeeded', plan });
  expect(change.revertAt).not.toBeNull();
  await check();
  const last = (await eventsOf(context, `change/${change.id}`)).at(-1);
  expect(last).toMatchObject({ type: 'revert-kept', why: 'restored' });
  expect(await dueJobs(context)).toContainEqual(expect.stringContaining('revert-stopped'));
});

test('a mark that was answered is not foreign any more', async () => {
  const { context, change, check } = await withForeign({ state: 'succeeded' });
  await check();
  const answered = await eventsOf(context, `change/${change.id}`);
  expect(answered.at(-1)).toMatchObject({ type: 'restored', foreign: [{ hash: 'lost' }] });
  await check();
  expect(await eventsOf(context, `change/${change.id}`)).toHaveLength(answered.length);
  expect(await noticesIn(context)).toHaveLength(1);
});

test('a change that the log has lost is drawn as lost and reported once; everything else goes on', async () => {
  const { context, marks, check, lost } = await witnessed();
  const isPaused = await scheduleIn(context);
  const approved = await aChange(context, { state: 'approved' });
  const id = newId();
  marks.push(seen(id, 'lost'), seen(id, 'line', { isCard: false }));
  await check();
  expect(lost()).toEqual([[id, AT, null]]);
  expect(await isPaused()).toBe(false);
  expect((await loaded(context, approved.id)).state).toBe('approved');
  await check();
  expect(await noticesIn(context)).toEqual([expect.stringContaining(`Affected: ${id}.`)]);
});

test('a run that the log has lost pauses its schedule once, so that it does not run again', async () => {
  const { context, marks, check } = await witnessed();
  const id = newId();
  const [isPaused, isOtherPaused] = [await scheduleIn(context, id), await scheduleIn(context)];
  const run = newId();
  marks.push(seen(run, 'line', { isCard: false, schedule: id }));
  await check();
  expect([await isPaused(), await isOtherPaused()]).toEqual([true, false]);
  const affected = `Affected: ${run}, the schedule of ci (${id}).`;
  expect(await noticesIn(context)).toEqual([expect.stringContaining(affected)]);
  await recorded(context, { stream: `schedule/${id}`, event: { type: 'resumed', by: ana } });
  await check();
  expect(await isPaused()).toBe(false);
});

test('channels are read back from the last event of the log, with the threads of open cards', async () => {
  const { context, shown, check, clock } = await witnessed();
  const { card } = await aChange(context);
  await aChange(context, { state: 'succeeded' });
  clock.now = minutes(60 * 24 * 100);
  const started = { type: 'started', release: '2', instance: 'i' } as const;
  await recorded(context, { stream: 'installation/processes', event: started });
  await check();
  const since = new Date(minutes(0).getTime() - 31 * 86_400_000);
  expect(shown.map(({ given }) => given)).toEqual([[since, [card]]]);
});

test('a channel that is not readable stops the check, and nothing is drawn', async () => {
  const { context, shown } = await createTestContext({
    messages: { readMarks: () => Promise.reject(new Error('no answer')) },
  });
  await expect(checkChannels(context)).rejects.toThrow('no answer');
  expect(shown.map(({ name }) => name)).toEqual(['readMarks']);
});

/** The database loses these events of a stream, which this process knows. */
async function loses({ store }: WorkflowContext, stream: string, from: number): Promise<void> {
  const events = `delete from event where stream = '${stream}' and version >= ${from}`;
  await tamper(store, events, 'delete from job');
}

/** A change that was cancelled, and whose end the database then lost. */
async function wentBack() {
  const { context } = await createTestContext();
  const [change, other] = [await aChange(context), await aChange(context)];
  const isPaused = await scheduleIn(context);
  await moved(context, change.id, { type: 'cancelled', by: ana });
  const { version, hash } = await loaded(context, change.id);
  await loses(context, `change/${change.id}`, version);
  return { context, change, other, isPaused, hash };
}

const nothing = (context: WorkflowContext) => () =>
  append(context.events, async () => ({ events: [], result: 'done' }));

test('a schedule whose events are lost is paused, and no other', async () => {
  const { context } = await createTestContext();
  const id = newId();
  const [isPaused, isOtherPaused] = [await scheduleIn(context, id), await scheduleIn(context)];
  const removed = { type: 'removed', by: ana, why: 'removed' } as const;
  await recorded(context, { stream: `schedule/${id}`, event: removed });
  await loses(context, `schedule/${id}`, 2);
  await withRestore(context, nothing(context));
  expect([await isPaused(), await isOtherPaused()]).toEqual([true, false]);
});

test('a subscribed digest whose events are lost is paused, and no other', async () => {
  const { context } = await createTestContext();
  const added = { type: 'added', channel: 'C1', options: {}, by: ana } as const;
  for (const id of ['a', 'b'])
    await recorded(context, { stream: `subscription/${id}`, event: added });
  await recorded(context, { stream: 'subscription/a', event: { type: 'removed', by: ana } });
  await loses(context, 'subscription/a', 2);
  await withRestore(context, nothing(context));
  const standing = await inForce(context.events, 'subscription', minutes(0));
  expect([...standing].map(([id, { isPaused }]) => [id, isPaused])).toEqual([
    ['a', true],
    ['b', false],
  ]);
  expect(await noticesIn(context)).toEqual([expect.stringContaining('the digest a')]);
});

test('a freeze whose events are lost stops all executions until a person decides', async () => {
  const { context } = await createTestContext();
  const id = newId();
  const approved = await aChange(context, { state: 'approved' });
  const about = { change: id, by: ana, reason: 'launch', scope: { tag: 'dev' } };
  const event = { type: 'created', ...about, from: minutes(0), until: minutes(60) } as const;
  await recorded(context, { stream: `freeze/${id}`, event });
  await loses(context, `freeze/${id}`, 1);
  await withRestore(context, nothing(context));
  expect((await eventsOf(context, `freeze/${id}`)).map(({ type }) => type)).toEqual(['found']);
  expect((await currentFreezes(context, context.events)).isStopped).toBe(true);
  expect((await loaded(context, approved.id)).state).toBe('approved');
});

const REFUSED: EventOf<'refusal/1'> = {
  ...{ type: 'refused', by: ana, tried: 'service stop', why: 'no-rule' },
  ...{ command: null, target: null, rule: null },
};

test('after a loss nothing is executed before the channels were read again', async () => {
  const { context, run, current, change } = await runnable();
  await recorded(context, { stream: 'refusal/1', event: REFUSED });
  await loses(context, 'refusal/1', 1);
  await withRestore(context, nothing(context));
  expect(await run()).toBeInstanceOf(Date);
  expect(await current()).toEqual(change);
  await checkChannels(context);
  await run();
  expect((await current()).state).toBe('succeeded');
});

test('work on a log that went back is done after what it lost was recorded', async () => {
  const { context, change, other, isPaused, hash } = await wentBack();
  const work = nothing(context);
  await expect(work()).rejects.toBeInstanceOf(WentBack);
  expect(await withRestore(context, work)).toMatchObject({ result: 'done' });
  const ended = { state: 'stale', stopReason: 'restored' };
  expect(await loaded(context, change.id)).toMatchObject(ended);
  const events = await eventsOf(context, `change/${change.id}`);
  expect(events).toContainEqual(
    expect.objectContaining({ foreign: [expect.objectContaining({ hash })] }),
  );
  expect((await loaded(context, other.id)).state).toBe('pending');
  expect(await isPaused()).toBe(false);
  expect(await dueJobs(context)).toContain(`card ${change.id}`);
});

test('a log that went back is found without any work, and a damaged one is left alone', async () => {
  const { context, change } = await wentBack();
  await watchLog(context);
  expect((await loaded(context, change.id)).state).toBe('stale');
  expect(isUnread(context)).toBe(true);
  await recorded(context, { stream: 'refusal/1', event: REFUSED });
  await tamper(context.store, `update event set hash = 'x' where stream = 'refusal/1'`);
  await watchLog(context);
  expect(appendProblem(context.events)).not.toBeNull();
  await watchLog(context);
});

test('a press whose answer is lost is due again', async () => {
  const { context, change } = await wentBack();
  const stream = `press/${change.id}/p1` as const;
  await watchLog(context);
  const press = { verb: 'approve', by: ana, text: '', place: { kind: 'own' }, seen: null };
  await recorded(context, { stream, event: { type: 'pressed', ...press } });
  const answered = { type: 'answered', what: 'approve', refusal: 'expired' } as const;
  await recorded(context, { stream, event: answered });
  await loses(context, stream, 2);
  await watchLog(context);
  expect(await dueJobs(context)).toContain(`press ${change.id}/p1`);
});

test('a job that meets a log that went back continues it', async () => {
  const { context, change } = await wentBack();
  const error = await nothing(context)().catch((reason: unknown) => reason);
  await mendLog(context, error);
  expect((await loaded(context, change.id)).state).toBe('stale');
  await mendLog(context, new Error('of another kind'));
});
