import { expect, test } from 'vitest';
import { textOf } from '../harness/messages.ts';
import { startTestSandbox } from '../harness/test-sandbox.ts';
import { ANA, BEN } from '../harness/users.ts';

test('an interval that live servers reject is not requested, and its neighbours are offered', async () => {
  const sandbox = await startTestSandbox();
  const line = '/alert edit "5xx rate" interval=7m';
  const shown = await sandbox.answer(ANA, line, 'interval must be 1m, 5m, 15m');
  expect(shown).toContain('interval=5m');
  expect(shown).toContain('interval=15m');
  expect(sandbox.slack.messages('db-approvals')).toHaveLength(0);
});

test('the warning also covers a field that the edit does not change', async () => {
  const sandbox = await startTestSandbox();
  const id = sandbox.alerts.alerts().find(({ name }) => name === '5xx rate')?.id ?? '';
  sandbox.alerts.editAlert(id, { message: 'm'.repeat(4_200) });
  const line = '/alert edit "5xx rate" threshold=5';
  expect(await sandbox.answer(ANA, line, 'Edit alert "5xx')).toContain(
    'Live servers reject the message of 4,200 characters; they accept at most 4,096.',
  );
});

test('a region that only live servers have is requested with a warning', async () => {
  const sandbox = await startTestSandbox();
  const line = '/service create analytics-ca provider=aws region=ca-central-1 ip=10.0.0.0/8';
  const preview = await sandbox.ask(ANA, line, 'Create service analytics-ca?');
  const text = textOf(preview);
  const known = 'is not in the contract of the API; live servers accept it.';
  expect(text).toContain(`The region “ca-central-1” ${known}`);
  expect(text).toContain(`The name “analytics-ca” ${known}`);
  await sandbox.press(ANA, preview, 'change.confirm');
  await sandbox.press(BEN, await sandbox.card('requests: '), 'change.approve');
  await sandbox.card('Service analytics-ca is being created');
  expect(sandbox.cloud.services().map(({ name, region }) => [name, region])).toContainEqual([
    'analytics-ca',
    'ca-central-1',
  ]);
});
