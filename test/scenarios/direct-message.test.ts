import { expect, test } from 'vitest';
import { textOf } from '../harness/messages.ts';
import { startTestSandbox, type TestSandbox } from '../harness/test-sandbox.ts';
import { ANA, BEN, EMIL } from '../harness/users.ts';
import { emptyUrl } from '../storage/engines.ts';

const OPS = 'C0OPS000001';
const DIRECT = 'D0ANA00001';

/** Ana writes to the app in its direct messages. */
async function written(sandbox: TestSandbox, text: string) {
  await sandbox.slack.openHome({ as: ANA });
  return sandbox.slack.sendMessage({ as: ANA, channel: DIRECT, text });
}

test.for([
  ['help', 'Commands of Signalbox'],
  ['hello', 'Type what you want'],
  ['what can you do?', 'Type what you want'],
] as const)('“%s” in the direct messages of the app gets “%s”', async ([text, words]) => {
  const sandbox = await startTestSandbox();
  await written(sandbox, text);
  const help = await sandbox.privateMessage(ANA, words);
  expect(help).toMatchObject({ channel: DIRECT, ephemeral: false });
});

const LINES = [
  'service list',
  '/service list',
  'Service list',
  '`service list`',
  '*service list*',
  '@signalbox service list',
  '@signalbox `Service list`',
];

test.for(LINES)('“%s” in a direct message runs', async (text) => {
  const sandbox = await startTestSandbox();
  await written(sandbox, text);
  await sandbox.privateMessage(ANA, '12 services');
});

test('a change that was typed in a direct message is confirmed there', async () => {
  const sandbox = await startTestSandbox();
  await written(sandbox, 'service stop staging a < b & c');
  const preview = await sandbox.privateMessage(ANA, 'Stop staging?');
  expect(preview?.text).toContain('a &lt; b &amp; c');
  await sandbox.press(ANA, preview, 'change.confirm');
  await sandbox.card('requests: stop staging');
  await sandbox.privateMessage(ANA, 'Sent to #db-approvals');
});

test('a command that needs a form offers it, because a message cannot open one', async () => {
  const sandbox = await startTestSandbox();
  await written(sandbox, 'service scale staging');
  const offer = await sandbox.privateMessage(ANA, 'needs more values');
  await sandbox.press(ANA, offer, 'command.0');
  await sandbox.modal(ANA, 'service.scale');
  expect(JSON.stringify(sandbox.slack.clientState(ANA).views)).toContain('staging');
});

test('an event that another process handled before drafts no second change', async () => {
  const sandbox = await startTestSandbox({ databaseUrl: await emptyUrl('sqlite') });
  await written(sandbox, 'service stop staging for the night');
  await sandbox.privateMessage(ANA, 'Stop staging?');
  const [event] = sandbox.slack
    .events()
    .filter(({ payload }) => JSON.stringify(payload).includes('stop'));
  await sandbox.restart();
  await sandbox.slack.redeliver(event?.id ?? '');
  await sandbox.privateMessage(ANA, 'already');
  const previews = sandbox.slack.messages(DIRECT).filter(({ text }) => text.includes('staging?'));
  expect(previews).toHaveLength(1);
});

test('a query that Slack delivers twice is answered once', async () => {
  const sandbox = await startTestSandbox();
  await written(sandbox, 'service list');
  await sandbox.privateMessage(ANA, '12 services');
  const [event] = sandbox.slack
    .events()
    .filter(({ payload }) => JSON.stringify(payload).includes('service list'));
  await sandbox.slack.redeliver(event?.id ?? '');
  await written(sandbox, 'help');
  await sandbox.privateMessage(ANA, 'Commands of Signalbox');
  const answers = sandbox.slack.messages(DIRECT).map(textOf);
  expect(answers.filter((text) => text.includes('12 services'))).toHaveLength(1);
});

test('a text that is too long for a command is refused', async () => {
  const sandbox = await startTestSandbox();
  await written(sandbox, `service stop staging ${'x'.repeat(5_000)}`);
  await sandbox.privateMessage(ANA, 'The command is too long: 5,021 of at most 5,000 characters');
});

test('a mention gets the help, which only its author sees', async () => {
  const sandbox = await startTestSandbox();
  await sandbox.slack.sendMessage({ as: EMIL, channel: OPS, text: '@signalbox help' });
  const help = await sandbox.privateMessage(EMIL, 'Commands of Signalbox');
  expect(help).toMatchObject({ channel: OPS, ephemeral: true });
  const seen = sandbox.slack.clientState(BEN).messages.map(textOf).join();
  expect(seen).not.toContain('Commands of Signalbox');
  expect(textOf(help)).toContain(
    'You have no role. Ask to join @engineering (viewer), @db-operators (operator) or @db-leads (approver).',
  );
});
