import { expect, onTestFinished, test } from 'vitest';
import { WentBack } from '../../src/log/index.ts';
import { openBackground } from '../../src/workflow/background.ts';
import { withRestore } from '../../src/workflow/witness.ts';
import { createTestContext, minutes } from './context.ts';

/** A process that has read its channels once. `server` is what it sees of the database server. */
async function started() {
  const server = { timeline: 1, lost: 0 };
  const base = await createTestContext();
  const store = {
    ...base.context.store,
    timeline: async () => server.timeline,
    lostConnections: () => server.lost,
  };
  const context = { ...base.context, store };
  const around = { takesOver: true, isConnected: () => true, kinds: {} };
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

/** Work on a log whose end is gone at the first try. */
function wentBackOnce() {
  let tries = 0;
  return async () => {
    tries += 1;
    if (tries === 1) throw new WentBack('the end is gone');
  };
}
