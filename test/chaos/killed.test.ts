import { expect, test } from 'vitest';
import { PROCESS_LIMITS, startProcessSandbox } from '../harness/bot-process.ts';
import { placeOf } from '../harness/messages.ts';
import { requestChange } from '../harness/requests.ts';
import { BEN } from '../harness/users.ts';
import { emptyUrl } from '../storage/engines.ts';

// Sooner than the leases of the killed process end, which last a minute and more.
const SOON = { ...PROCESS_LIMITS, timeout: 40_000 };

test('on SQLite, the process after a kill reports the unknown outcome at once', async () => {
  const databaseUrl = await emptyUrl('sqlite');
  const answer = Promise.withResolvers<void>();
  const sandbox = await startProcessSandbox({ databaseUrl, wait: () => answer.promise });
  const bot = await sandbox.startAndDeliver();
  const card = await requestChange(sandbox);
  sandbox.cloud.injectFault({ operation: 'set state', fault: 'delay-2s', times: 1 });
  await sandbox.slack.click(BEN, placeOf(card), 'change.approve');
  await expect.poll(() => sandbox.cloud.count('set state'), PROCESS_LIMITS).toBe(1);
  bot.signal('SIGKILL');
  await bot.exited;
  answer.resolve();

  await sandbox.startAndDeliver();
  await expect.poll(() => card.text, SOON).toContain('Stop staging: outcome unknown');
  expect(sandbox.cloud.count('set state')).toBe(1);
});
