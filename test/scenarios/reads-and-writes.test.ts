import { expect, onTestFinished, test } from 'vitest';
import { requestChange } from '../harness/requests.ts';
import { startTestSandbox } from '../harness/test-sandbox.ts';
import { BEN, DORA, FINN, NOON } from '../harness/users.ts';
import { controlledSleeps } from './controlled-sleeps.ts';

test('a write is sent at once while two viewers send 60 reads a minute each', async () => {
  const { sleep, advanceTo } = controlledSleeps();
  const sandbox = await startTestSandbox({ sleep });
  // Lets the waiting reads end, so that the bot can stop.
  onTestFinished(() => advanceTo(Number.POSITIVE_INFINITY));
  const card = await requestChange(sandbox);
  const reads = () => sandbox.cloud.count('pipe settings');
  const writes = () => sandbox.cloud.count('set state');
  for (let second = 1; second <= 60; second += 1) {
    const line = '/pipe settings analytics-prod orders';
    await Promise.all([DORA, FINN].map((viewer) => sandbox.slack.command(viewer, 'ops', line)));
    if (second === 40) {
      // The clock stands still until the write was sent: it waits for no read.
      expect(writes()).toBe(0);
      expect(reads()).toBeGreaterThan(10);
      expect(reads()).toBeLessThan(2 * second - 20);
      await sandbox.press(BEN, card, 'change.approve');
      await expect.poll(writes).toBe(1);
    }
    sandbox.clock.now = new Date(NOON.getTime() + second * 1_000);
    advanceTo(sandbox.clock.now.getTime());
  }
  await sandbox.card('staging is stopping');
  expect(reads()).toBeLessThan(60);
});
