import { expect, test } from 'vitest';
import { textOf } from '../harness/messages.ts';
import { NO_MESSAGE } from '../harness/requests.ts';
import { startTestSandbox, type TestSandbox } from '../harness/test-sandbox.ts';
import { ANA, BEN } from '../harness/users.ts';

const SEVEN_MINUTES =
  'Live servers reject the interval “7m”; they accept 1m, 5m, 15m, 30m, 1h, 6h, 12h, 1d.';

async function previewOf(sandbox: TestSandbox, line: string, title: string) {
  await sandbox.slack.command(ANA, 'ops', line);
  return sandbox.privateMessage(ANA, title);
}

test('the requester and the approvers read that live servers reject an interval', async () => {
  const sandbox = await startTestSandbox();
  const preview = await previewOf(sandbox, '/alert edit "5xx rate" interval=7m', 'Edit alert "5xx');
  expect(textOf(preview ?? NO_MESSAGE)).toContain(SEVEN_MINUTES);
  await sandbox.press(ANA, preview, 'change.confirm');
  const card = await sandbox.card('requests: ');
  expect(textOf(card ?? NO_MESSAGE)).toContain(SEVEN_MINUTES);

  // The warning is right: the server of the sandbox rejects it, and nothing was changed.
  await sandbox.press(BEN, card, 'change.approve');
  const ended = await sandbox.card('rejected by the server');
  expect(textOf(ended ?? NO_MESSAGE)).toContain("received '7m'");
  expect(sandbox.alerts.effects()).toEqual([]);
});

test('the warning also covers a field that the edit does not change', async () => {
  const sandbox = await startTestSandbox();
  const id = sandbox.alerts.alerts().find(({ name }) => name === '5xx rate')?.id ?? '';
  sandbox.alerts.editAlert(id, { message: 'm'.repeat(4_200) });
  const preview = await previewOf(sandbox, '/alert edit "5xx rate" threshold=5', 'Edit alert "5xx');
  expect(textOf(preview ?? NO_MESSAGE)).toContain(
    'Live servers reject the message of 4,200 characters; they accept at most 4,096.',
  );
});

test.for([
  ['name', 513, '512'],
  ['message', 4_097, '4,096'],
] as const)('a typed %s of %d characters has a warning', async ([field, length, most]) => {
  const sandbox = await startTestSandbox();
  const line = `/alert edit "5xx rate" ${field}="${'x'.repeat(length)}"`;
  const preview = await previewOf(sandbox, line, 'Edit alert');
  expect(textOf(preview ?? NO_MESSAGE)).toContain(`they accept at most ${most}.`);
});

test('a region that only live servers have is requested with a warning', async () => {
  const sandbox = await startTestSandbox();
  const line = '/service create analytics-ca provider=aws region=ca-central-1 ip=10.0.0.0/8';
  const preview = await previewOf(sandbox, line, 'Create service analytics-ca?');
  const text = textOf(preview ?? NO_MESSAGE);
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

test('a region that live servers no longer have has a warning', async () => {
  const sandbox = await startTestSandbox();
  const line = '/service create right provider=aws region=me-central-1 ip=10.0.0.0/8';
  const preview = await previewOf(sandbox, line, 'Create service right?');
  expect(textOf(preview ?? NO_MESSAGE)).toContain('Live servers reject the region “me-central-1”.');
});
