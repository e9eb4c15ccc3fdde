import { expect, test } from 'vitest';
import type { ChangeId } from '../../src/domain/change.ts';
import { evolveSchedule } from '../../src/domain/log-events.ts';
import { append, WentBack } from '../../src/log/index.ts';
import type { SeenMark, WorkflowContext } from '../../src/workflow/context.ts';
import { checkChannels, mendLog, withRestore } from '../../src/workflow/witness.ts';
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
  PLAN,
  recorded,
} from './context.ts';

const AT = { channel: channel('CAPPROVALS'), ts: '1.0' };
const seen = (change: ChangeId, hash: string, isCard = true): SeenMark => ({
  ...{ version: 3, hash, change, at: AT, isCard },
});

/** A workflow whose channels show these marks. */
async function witnessed() {
  const marks: SeenMark[] = [];
  const all = await createTestContext({ messages: { readMarks: async () => marks } });
  const { context, shown } = all;
  const lost = () => shown.filter(({ name }) => name === 'drawLost').map(({ given }) => given);
  return { ...all, marks, lost, check: () => checkChannels(context) };
}

async function noticesIn(context: WorkflowContext): Promise<readonly unknown[]> {
  type Texts = readonly unknown[];
  const found = await context.events.loadAll<'notice', Texts>('notice', (texts, event) =>
    event.type === 'noticed' ? [...(texts ?? []), event.text] : (texts ?? []),
  );
  return [...found.values()].flatMap(({ state }) => state ?? []);
}

/** Puts a schedule in force, and returns whether it is paused. */
async function scheduleIn(context: WorkflowContext) {
  const id = newId();
  const service = { id: 's-1', name: 'ci' };
  const when = { stop: 'weekdays 20:00', start: null, zone: 'UTC', until: minutes(600) };
  const event = { type: 'created', change: id, by: ana, service, ...when } as const;
  await recorded(context, { stream: `schedule/${id}`, event });
  return async () =>
    (await context.events.load(`schedule/${id}`, evolveSchedule)).state?.isPaused ?? null;
}

test('marks that the log has change nothing', async () => {
  const { context, marks, check, lost } = await witnessed();
  const change = await aChange(context);
  marks.push(seen(change.id, change.hash));
  await check();
  expect(await loaded(context, change.id)).toMatchObject({ state: 'pending' });
  expect(await noticesIn(context)).toEqual([]);
  expect(lost()).toEqual([]);
});

test('a foreign mark ends its change, pauses the schedules and is reported to the operators', async () => {
  const { context, marks, check } = await witnessed();
  const [change, other] = [await aChange(context), await aChange(context)];
  const isPaused = await scheduleIn(context);
  marks.push(seen(change.id, 'lost'));
  await check();
  expect(await loaded(context, change.id)).toMatchObject({
    ...{ state: 'stale', stopReason: 'restored' },
  });
  expect((await loaded(context, other.id)).state).toBe('pending');
  expect(await isPaused()).toBe(true);
  expect(await noticesIn(context)).toEqual([expect.stringContaining(`Affected: ${change.id}.`)]);
});

test('a foreign mark leaves the outcome of a change unknown that is executing', async () => {
  const { context, marks, check } = await witnessed();
  const change = await aChange(context, { state: 'executing' });
  marks.push(seen(change.id, 'lost'));
  await check();
  expect((await loaded(context, change.id)).state).toBe('unknown');
});

test('a mark that was answered is not foreign any more', async () => {
  const { context, marks, check } = await witnessed();
  const change = await aChange(context, { state: 'succeeded' });
  marks.push(seen(change.id, 'lost'));
  await check();
  const answered = await eventsOf(context, `change/${change.id}`);
  expect(answered.at(-1)).toMatchObject({ type: 'restored', foreign: [{ hash: 'lost' }] });
  await check();
  expect(await eventsOf(context, `change/${change.id}`)).toHaveLength(answered.length);
  expect(await noticesIn(context)).toHaveLength(1);
});

test('a change that the log has lost is drawn as lost, pauses the schedules and is reported once', async () => {
  const { context, marks, check, lost } = await witnessed();
  const isPaused = await scheduleIn(context);
  const id = newId();
  marks.push(seen(id, 'lost'), seen(id, 'line', false));
  await check();
  expect(lost()).toEqual([[id, AT]]);
  expect(await isPaused()).toBe(true);
  await check();
  expect(await noticesIn(context)).toEqual([expect.stringContaining(`Affected: ${id}.`)]);
});

test('a lost change may have been a freeze, so that everything approved ends', async () => {
  const { context, marks, check } = await witnessed();
  const [approved, pending] = [
    await aChange(context, { state: 'approved' }),
    await aChange(context, { plan: { target: { ...PLAN.target, id: 's-2' } } }),
  ];
  marks.push(seen(newId(), 'lost'));
  await check();
  expect(await loaded(context, approved.id)).toMatchObject({
    ...{ state: 'stale', stopReason: 'restored' },
  });
  expect((await loaded(context, pending.id)).state).toBe('pending');
});

test('a channel that is not readable stops the check, and nothing is drawn', async () => {
  const { context, shown } = await createTestContext({
    messages: { readMarks: () => Promise.reject(new Error('no answer')) },
  });
  await expect(checkChannels(context)).rejects.toThrow('no answer');
  expect(shown.map(({ name }) => name)).toEqual(['readMarks']);
});

/** A change that was approved, and whose approvals the database then lost. */
async function wentBack() {
  const { context } = await createTestContext();
  const [change, other] = [await aChange(context), await aChange(context)];
  const isPaused = await scheduleIn(context);
  await moved(context, change.id, { type: 'cancelled', by: ana });
  const { version, hash } = await loaded(context, change.id);
  await tamper(
    context.store,
    `delete from event where stream = 'change/${change.id}' and version >= ${version}`,
    'delete from job',
  );
  return { context, change, other, isPaused, hash };
}

test('work on a log that went back is done after what it lost was recorded', async () => {
  const { context, change, other, isPaused, hash } = await wentBack();
  const work = () => append(context.events, async () => ({ events: [], result: 'done' }));
  await expect(work()).rejects.toBeInstanceOf(WentBack);
  expect(await withRestore(context, work)).toMatchObject({ result: 'done' });
  expect(await loaded(context, change.id)).toMatchObject({
    ...{ state: 'stale', stopReason: 'restored' },
  });
  const restored = (await eventsOf(context, `change/${change.id}`)).find(
    ({ type }) => type === 'restored',
  );
  expect(restored).toMatchObject({ foreign: [{ hash }] });
  expect((await loaded(context, other.id)).state).toBe('pending');
  expect(await isPaused()).toBe(true);
  expect(await dueJobs(context)).toContain(`card ${change.id}`);
});

test('a job that meets a log that went back continues it', async () => {
  const { context, change } = await wentBack();
  const error = await append(context.events, async () => ({ events: [], result: null })).catch(
    (reason: unknown) => reason,
  );
  await mendLog(context, error);
  expect((await loaded(context, change.id)).state).toBe('stale');
  await mendLog(context, new Error('of another kind'));
});
