import { expect, test } from 'vitest';
import { textOf } from '../harness/messages.ts';
import { startTestSandbox, type TestSandbox } from '../harness/test-sandbox.ts';
import { ANA, BEN, DORA, SVEN } from '../harness/users.ts';

const OPS = 'C0OPS000001';
const GENERAL = 'C0GENERAL01';
const PARTNERS = 'C0PARTNERS1';
const NAME = 'costs-2026-11-13-2026-11-19.csv';

/** The files that a user sees, with channel, thread and name. */
function filesOf(sandbox: TestSandbox, as: string) {
  return sandbox.slack
    .clientState(as)
    .messages.flatMap(({ channel, threadTs, files }) =>
      files.map(({ name }) => ({ channel, threadTs, name })),
    );
}

/** Opens the command palette for Ana in a thread of her message with an answer of another user. */
async function openPaletteInThread(sandbox: TestSandbox, channel: string, other: string) {
  await sandbox.slack.sendMessage({ as: ANA, channel, text: 'what does it cost?' });
  const ts = sandbox.slack.messages(channel).at(-1)?.ts ?? '';
  await sandbox.slack.sendMessage({ as: other, channel, threadTs: ts, text: 'let us see' });
  await sandbox.slack.shortcut({ as: ANA, callbackId: 'command.palette', channel, ts });
  const view = await sandbox.modal(ANA, 'command.palette');
  const shown = () => JSON.stringify(sandbox.slack.clientState(ANA).views.at(-1)?.blocks);
  await expect.poll(shown).not.toContain('Loading');
  return { ts, view };
}

async function ask(sandbox: TestSandbox, view: string, name: string, words: string) {
  const option = { text: { type: 'plain_text', text: name }, value: name };
  await sandbox.slack.press({
    as: ANA,
    place: { in: 'view', viewId: view },
    blockId: 'command',
    actionId: 'command',
    element: { type: 'static_select', action_id: 'command', selected_option: option },
  });
  const form = await sandbox.modal(ANA, name.replace(' ', '.'));
  await sandbox.slack.submit(ANA, form, {
    words: { words: { type: 'plain_text_input', value: words } },
  });
}

test('a CSV requested in a thread is posted there for all its readers', async () => {
  const sandbox = await startTestSandbox();
  const { ts, view } = await openPaletteInThread(sandbox, OPS, BEN);
  await ask(sandbox, view, 'cost csv', '7d');
  const answer = await sandbox.privateMessage(ANA, 'is in this thread, visible to everyone in it');
  expect(answer).toMatchObject({ channel: OPS, threadTs: ts });
  expect(filesOf(sandbox, DORA)).toEqual([{ channel: OPS, threadTs: ts, name: NAME }]);
});

test.for([
  ['the channel is shared with another workspace', PARTNERS],
  ['the app is not a member', GENERAL],
] as const)('where %s, the CSV is sent in a direct message', async ([, channel]) => {
  const sandbox = await startTestSandbox();
  const { view } = await openPaletteInThread(sandbox, channel, BEN);
  await ask(sandbox, view, 'cost csv', '7d');
  await sandbox.privateMessage(ANA, 'is in your direct messages with Signalbox');
  expect(filesOf(sandbox, ANA)).toMatchObject([{ name: NAME }]);
  expect([...filesOf(sandbox, SVEN), ...filesOf(sandbox, BEN)]).toEqual([]);
});

test('where the readers of a thread are unknown, the CSV is sent in a direct message', async () => {
  const sandbox = await startTestSandbox();
  const { view } = await openPaletteInThread(sandbox, OPS, BEN);
  const how = { error: 'internal_error' };
  sandbox.slack.failNext({ method: 'conversations.info', times: 9, how });
  await ask(sandbox, view, 'cost csv', '7d');
  await sandbox.privateMessage(ANA, 'is in your direct messages with Signalbox');
  expect(filesOf(sandbox, BEN)).toEqual([]);
});

test('in a workspace without the newest blocks, the figures are shown as text', async () => {
  const sandbox = await startTestSandbox();
  const { ts, view } = await openPaletteInThread(sandbox, OPS, BEN);
  const how = { error: 'invalid_blocks' };
  sandbox.slack.failNext({ method: 'chat.postEphemeral', times: 1, how });
  await ask(sandbox, view, 'cost', '7d');
  const answer = await sandbox.privateMessage(ANA, '13–19 Nov (UTC)');
  expect(answer).toMatchObject({ channel: OPS, threadTs: ts });
  expect(answer && textOf(answer)).not.toMatch(/"type":"(data_)?table"/);
  expect(answer && textOf(answer)).toContain('rich_text_preformatted');
});
