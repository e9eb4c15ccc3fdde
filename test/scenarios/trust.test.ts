import { expect, test } from 'vitest';
import { textOf } from '../harness/messages.ts';
import { timeInSteps } from '../harness/passing-time.ts';
import { requestChange, STAGING } from '../harness/requests.ts';
import { startTestSandbox } from '../harness/test-sandbox.ts';
import { ANA, BEN, CLEO, FINN, GUS } from '../harness/users.ts';
import { emptyUrl } from '../storage/engines.ts';

/** An approved change that waits because the cloud is rate-limited, so that a test can intervene. */
async function approvedAndWaiting() {
  const sandbox = await startTestSandbox({ databaseUrl: await emptyUrl('sqlite') });
  sandbox.cloud.injectFault({ operation: 'set state', fault: '429-retry-after', times: 1 });
  await sandbox.press(BEN, await requestChange(sandbox), 'change.approve');
  await sandbox.card('Nothing was sent yet');
  return sandbox;
}

test('membership that was read more than ten seconds before the request does not count', async () => {
  const sandbox = await approvedAndWaiting();
  // Slack's events are lost, and a cached membership counts for a minute.
  sandbox.slack.deliverTo(null);
  const update = sandbox.slack.admin.setGroup('db-leads', [CLEO, GUS]);
  update.catch(() => undefined);
  sandbox.pass(10_000);
  await sandbox.card('not run: the current policy refuses it');
  expect(sandbox.cloud.effectCount('set state', STAGING)).toBe(0);
});

test('a requester who lost the role before the confirmation reads which role requests it, and who has it', async () => {
  const sandbox = await startTestSandbox();
  const preview = await sandbox.ask(ANA, '/service stop staging for the night', 'Stop staging?');
  await sandbox.slack.admin.setGroup('db-operators', [FINN]);
  await sandbox.press(ANA, preview, 'change.confirm');
  await sandbox.privateMessage(ANA, `only @db-operators may. <@${FINN}> can request it for you.`);
  expect(sandbox.slack.messages('db-approvals')).toHaveLength(0);
});

test('an approved change waits while the membership lookup fails', async () => {
  const sandbox = await approvedAndWaiting();
  const asked = sandbox.slack.calls('users.info').length;
  sandbox.slack.failNext({ method: 'users.info', times: 40, how: { error: 'internal_error' } });
  sandbox.pass(120_000);
  await expect.poll(() => sandbox.slack.calls('users.info').length).toBeGreaterThan(asked + 1);
  expect(textOf(await sandbox.card('Stop staging: approved'))).toContain('1 of 1');
  expect(sandbox.cloud.effectCount('set state', STAGING)).toBe(0);
  sandbox.slack.clearFaults();
  const pass = timeInSteps(sandbox, 11_000);
  await expect
    .poll(() => {
      pass();
      return sandbox.cloud.effectCount('set state', STAGING);
    })
    .toBe(1);
  await sandbox.card('staging is stopping');
});
