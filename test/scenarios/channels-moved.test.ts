import { expect, test } from 'vitest';
import { requestAndApprove, requestChange, waitUntilIdle } from '../harness/requests.ts';
import { startTestSandbox, type TestSandbox } from '../harness/test-sandbox.ts';
import { ANA, BEN } from '../harness/users.ts';

const edited = (from: string, to: string) => (file: Record<string, never>) =>
  JSON.parse(JSON.stringify(file).replaceAll(from, to));

/** Ana requests and confirms a change; no card is expected yet. */
async function confirmed(sandbox: TestSandbox, line: string): Promise<void> {
  await sandbox.confirm(ANA, line, 'staging?');
  await waitUntilIdle(sandbox);
}

async function pass(sandbox: TestSandbox, minutes: number): Promise<void> {
  sandbox.pass(minutes * 60_000);
  await waitUntilIdle(sandbox);
}

test('after the approvals channel is renamed, old cards keep working and new ones follow the channel', async () => {
  const sandbox = await startTestSandbox();
  const first = await requestChange(sandbox);
  sandbox.slack.admin.rename('db-approvals', 'db-decisions');
  await sandbox.press(BEN, first, 'change.approve');
  await sandbox.card('staging is stopping', 'db-decisions');

  await pass(sandbox, 1);
  await confirmed(sandbox, '/service start staging for the morning');
  const cards = () => sandbox.slack.messages('db-decisions').filter(({ threadTs }) => !threadTs);
  await sandbox.card('requests: start staging', 'db-decisions');
  expect(await sandbox.reload(edited('#db-approvals', '#db-decisions'))).toEqual({ ok: true });
  await pass(sandbox, 1);
  const second = await sandbox.card('requests: start staging', 'db-decisions');
  await sandbox.press(BEN, second, 'change.approve');
  await sandbox.card('staging is starting', 'db-decisions');
  expect(cards()).toHaveLength(2);
});

test('with an archived audit channel changes still run', async () => {
  const sandbox = await startTestSandbox();
  sandbox.slack.admin.archive('db-audit');
  await requestAndApprove(sandbox, '/service stop staging for the night');
  await sandbox.card('staging is stopping');
  expect(sandbox.cloud.count('set state')).toBe(1);
});
