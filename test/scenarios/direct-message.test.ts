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

test('in the direct messages of the app, what is no command gets help', async () => {
  const sandbox = await startTestSandbox();
  await written(sandbox, 'what can you do?');
  await sandbox.privateMessage(ANA, 'Type what you want');
  await written(sandbox, 'help');
  const help = await sandbox.privateMessage(ANA, 'Commands of Signalbox');
  expect(help).toMatchObject({ channel: DIRECT, ephemeral: false });
});

const LINES = [
  'service list',
  '/service list',
  '`service list`',
  '*service list*',
  '@signalbox service list',
  '@signalbox `Service list`',
];

test('a line in a direct message runs, however it is marked up', async () => {
  const sandbox = await startTestSandbox();
  const texts = () => sandbox.slack.messages(DIRECT).map(textOf);
  for (const [index, line] of LINES.entries()) {
    await written(sandbox, line);
    const answers = () => texts().filter((text) => text.includes('12 services'));
    await expect.poll(answers, { message: line }).toHaveLength(index + 1);
  }
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

/** Slack delivers the event with these words again. */
async function redeliver({ slack }: TestSandbox, words: string) {
  const event = slack.events().find(({ payload }) => JSON.stringify(payload).includes(words));
  await slack.redeliver(event?.id ?? '');
}

test('an event that another process handled before drafts no second change', async () => {
  const sandbox = await startTestSandbox({ databaseUrl: await emptyUrl('sqlite') });
  await written(sandbox, 'service stop staging for the night');
  await sandbox.privateMessage(ANA, 'Stop staging?');
  await sandbox.restart();
  await redeliver(sandbox, 'service stop');
  await sandbox.privateMessage(ANA, 'already');
  const previews = sandbox.slack.messages(DIRECT).filter(({ text }) => text.includes('staging?'));
  expect(previews).toHaveLength(1);
});

test('a query that Slack delivers twice is answered once', async () => {
  const sandbox = await startTestSandbox();
  await written(sandbox, 'service list');
  await sandbox.privateMessage(ANA, '12 services');
  await redeliver(sandbox, 'service list');
  await written(sandbox, 'help');
  await sandbox.privateMessage(ANA, 'Commands of Signalbox');
  const answers = sandbox.slack.messages(DIRECT).map(textOf);
  expect(answers.filter((text) => text.includes('12 services'))).toHaveLength(1);
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
