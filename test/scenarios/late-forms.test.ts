import { expect, test } from 'vitest';
import { textOf } from '../harness/messages.ts';
import { NO_MESSAGE, requestChange } from '../harness/requests.ts';
import { startTestSandbox, type TestSandbox } from '../harness/test-sandbox.ts';
import { ANA, BEN, CLEO } from '../harness/users.ts';

const DAY_MS = 24 * 3_600_000;
const reason = { reason: { reason: { type: 'plain_text_input', value: 'not tonight' } } };

const errorOf = (sandbox: TestSandbox, form: string) =>
  sandbox.slack.clientState(BEN).views.find(({ id }) => id === form)?.errors.reason;

async function openReject(sandbox: TestSandbox) {
  const card = await requestChange(sandbox);
  await sandbox.press(BEN, card, 'change.reject');
  return { card, form: await sandbox.modal(BEN, 'change.reject') };
}

const refusals = (sandbox: TestSandbox) =>
  sandbox.privateMessage(BEN, 'Request it again if it is still needed');

test('a form whose card expired meanwhile stays open and says so', async () => {
  const sandbox = await startTestSandbox();
  const { form } = await openReject(sandbox);
  sandbox.clock.now = new Date(sandbox.clock.now.getTime() + DAY_MS);
  sandbox.wake();
  await sandbox.card('Stop staging: expired');
  await sandbox.slack.submit(BEN, form, reason);
  expect(errorOf(sandbox, form)).toBe(
    'Too late: it has expired. Request it again if it is still needed.',
  );
  await refusals(sandbox);
});

test('a form whose card has just reached its time says so before the card does', async () => {
  const sandbox = await startTestSandbox();
  const { form } = await openReject(sandbox);
  sandbox.clock.now = new Date(sandbox.clock.now.getTime() + DAY_MS);
  await sandbox.slack.submit(BEN, form, reason);
  expect(errorOf(sandbox, form)).toMatch(/^Too late: it has expired\./);
});

test('a form whose change was cancelled or rejected meanwhile says which', async () => {
  const sandbox = await startTestSandbox();
  const { card, form } = await openReject(sandbox);
  await sandbox.press(ANA, card, 'change.cancel');
  await sandbox.card('Stop staging: cancelled');
  await sandbox.slack.submit(BEN, form, reason);
  expect(errorOf(sandbox, form)).toMatch(/^Too late: it was cancelled\./);
});

test('a form of a change that still waits closes, and its decision counts', async () => {
  const sandbox = await startTestSandbox();
  const { form } = await openReject(sandbox);
  await sandbox.slack.submit(BEN, form, reason);
  expect(sandbox.slack.clientState(BEN).views).toEqual([]);
  await sandbox.card('Stop staging: rejected');
});

test('a form about an outcome that another user has recorded says so', async () => {
  const sandbox = await startTestSandbox();
  const fault = { operation: 'set state', fault: 'close-after-effect', times: 1 } as const;
  sandbox.cloud.injectFault(fault);
  await sandbox.press(BEN, await requestChange(sandbox), 'change.approve');
  const unknown = await sandbox.card('outcome unknown');
  await sandbox.press(BEN, unknown, 'change.did-not-happen');
  const form = await sandbox.modal(BEN, 'change.did-not-happen');
  await sandbox.press(CLEO, unknown, 'change.happened');
  const faster = await sandbox.modal(CLEO, 'change.happened');
  await sandbox.slack.submit(CLEO, faster, reason);
  const card = () => sandbox.slack.messages('db-approvals').find(({ ts }) => ts === unknown?.ts);
  await expect.poll(() => textOf(card() ?? NO_MESSAGE)).not.toContain('outcome unknown');
  await sandbox.slack.submit(BEN, form, reason);
  expect(errorOf(sandbox, form)).toMatch(/^Too late: it was accepted\./);
});
