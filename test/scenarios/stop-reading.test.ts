import { expect, test } from 'vitest';
import { startTestSandbox } from '../harness/test-sandbox.ts';
import { DORA } from '../harness/users.ts';
import { emptyUrl } from '../storage/engines.ts';

test('a stop does not wait for a long read, and the waiting user is notified', async () => {
  const sandbox = await startTestSandbox({ databaseUrl: await emptyUrl('sqlite') });
  sandbox.cloud.injectFault({ operation: 'usage cost', fault: 'hang', times: 99 });
  await sandbox.slack.command(DORA, 'ops', '/cost ytd');
  const hanging = () => sandbox.cloud.requests().filter(({ fault }) => fault === 'hang').length;
  await expect.poll(hanging).toBe(1);
  await sandbox.restart();
  await sandbox.privateMessage(DORA, 'Signalbox is stopping');
  expect(hanging()).toBe(1);
});

test('a year of costs is read completely despite a rate limit', async () => {
  const sandbox = await startTestSandbox();
  sandbox.cloud.behave({ rateLimit: null });
  await sandbox.ask(DORA, '/cost ytd', 'As of ');
  const months = sandbox.cloud.requests().filter(({ status }) => status === 200);
  expect(months.length).toBeGreaterThanOrEqual(11);
});
