import { expect, onTestFinished, test } from 'vitest';
import { WentBack } from '../../src/log/index.ts';
import { addJobs, transaction } from '../../src/storage/index.ts';
import { openBackground } from '../../src/workflow/background.ts';
import type { JobKinds } from '../../src/workflow/jobs.ts';
import { withRestore } from '../../src/workflow/witness.ts';
import { createTestContext, minutes } from './context.ts';

/** A process that has read its channels once. `server` is what it sees of the database server. */
async function started(kinds: JobKinds = {}) {
  const server = { timeline: 1, lost: 0 };
  const base = await createTestContext();
  const store = {
    ...base.context.store,
    timeline: async () => server.timeline,
    lostConnections: () => server.lost,
  };
  const context = { ...base.context, store };
  const around = { takesOver: true, isConnected: () => true, kinds };
  const options = { release: '2', ...around, alertChannels: [], audit: null };
  const background = await openBackground(context, options);
  onTestFinished(() => background.stop(async () => undefined));
  await background.start([]);
  const reads = () => base.shown.filter(({ name }) => name === 'readMarks').length;
  await expect.poll(background.isChecked).toBe(true);
  return { ...base, context, server, background, reads };
}

type Started = Awaited<ReturnType<typeof started>>;

test.for<[string, (one: Started) => unknown]>([
  ['on a new timeline', ({ server }) => Object.assign(server, { timeline: 2 })],
  ['after a lost connection', ({ server }) => Object.assign(server, { lost: 1 })],
  ['when an end that was known is gone', ({ context }) => withRestore(context, wentBackOnce())],
  ['once a day', ({ clock }) => Object.assign(clock, { now: minutes(24 * 60) })],
])('the channels are read once at the start, and again %s', async ([, happens]) => {
  const one = await started();
  expect(one.reads()).toBe(1);
  await happens(one);
  one.background.wake();
  await expect.poll(one.reads).toBe(2);
  one.background.wake();
  await expect.poll(one.background.isChecked).toBe(true);
  await one.background.stop(async () => undefined);
  expect(one.reads()).toBe(2);
});

test('a change that runs on a lost connection is shown once the channels are read', async () => {
  const [begun, answer, told] = [1, 2, 3].map(() => Promise.withResolvers<number>());
  const run = async () => {
    begun?.resolve(reads());
    await answer?.promise;
    await add('card');
    return 'done' as const;
  };
  const draw = async () => {
    told?.resolve(reads());
    return 'done' as const;
  };
  const kinds = { run: { run, lane: 'runs' }, card: { run: draw, lane: 'messages' } } as const;
  const { context, server, background, reads } = await started(kinds);
  const add = (kind: string) =>
    transaction(context.store, (tx) => addJobs(tx, { kind, key: 'A', dueAt: 0 }));
  await add('run');
  background.wake();
  expect(await begun?.promise).toBe(1);
  server.lost = 1;
  background.wake();
  await expect.poll(background.isChecked).toBe(false);
  answer?.resolve(0);
  expect(await told?.promise).toBe(2);
});

/** Work on a log whose end is gone at the first try. */
function wentBackOnce() {
  let tries = 0;
  return async () => {
    tries += 1;
    if (tries === 1) throw new WentBack('the end is gone');
  };
}
