import { expect, test } from 'vitest';
import { changesIn } from '../harness/read-log.ts';
import { requestAndApprove, requestChange, waitUntilIdle } from '../harness/requests.ts';
import { startTestSandbox, type TestSandbox } from '../harness/test-sandbox.ts';
import { BEN } from '../harness/users.ts';
import { emptyUrl, onEngines } from '../storage/engines.ts';

const HOUR_MS = 3_600_000;

/** Sets the clock forward or back, and waits until all due work is done. */
async function jump(sandbox: TestSandbox, hours: number): Promise<void> {
  sandbox.pass(hours * HOUR_MS);
  await waitUntilIdle(sandbox);
}

onEngines('a clock that is set back repeats nothing', async (engine) => {
  const databaseUrl = await emptyUrl(engine);
  const digest = { channel: '#db-costs', at: '12:30', timezone: 'UTC', days: 'daily' };
  const sandbox = await startTestSandbox({
    databaseUrl,
    yaml: (file) => ({ ...(file as object), digests: [digest] }),
  });
  await sandbox.press(BEN, await requestChange(sandbox), 'change.approve');
  await sandbox.card('staging is stopping');
  await jump(sandbox, 1);
  const digests = () => sandbox.slack.messages('db-costs').filter(({ threadTs }) => !threadTs);
  await expect.poll(() => digests().length).toBe(1);

  for (const hours of [-2, 1, 1, 1]) await jump(sandbox, hours);
  await sandbox.restart();
  for (const hours of [-24, 24]) await jump(sandbox, hours);
  expect(sandbox.cloud.count('set state')).toBe(1);
  expect(digests()).toHaveLength(1);
  const cards = sandbox.slack.messages('db-approvals').filter(({ threadTs }) => !threadTs);
  expect(cards).toHaveLength(1);
});

test('a change approved at a later clock time waits for its scheduled time and runs once', async () => {
  const sandbox = await startTestSandbox();
  await requestAndApprove(sandbox, '/service stop staging in=2h for the night');
  await sandbox.card('Stop staging: approved');
  await jump(sandbox, -3);
  await jump(sandbox, 4);
  expect(sandbox.cloud.count('set state')).toBe(0);
  await jump(sandbox, 1);
  await sandbox.card('staging is stopping');
  await jump(sandbox, -1);
  await jump(sandbox, 1);
  expect(sandbox.cloud.count('set state')).toBe(1);
});

test('a change with an unknown outcome is not sent again after the clock is changed', async () => {
  const databaseUrl = await emptyUrl('sqlite');
  const sandbox = await startTestSandbox({ databaseUrl });
  sandbox.cloud.injectFault({ operation: 'set state', fault: 'reset-after-effect', times: 1 });
  await sandbox.press(BEN, await requestChange(sandbox), 'change.approve');
  await sandbox.card('outcome unknown');
  for (const hours of [-6, 12, -6]) await jump(sandbox, hours);
  expect((await changesIn(databaseUrl)).map(({ state }) => state)).toEqual(['unknown']);
  expect(sandbox.cloud.count('set state')).toBe(1);
});
