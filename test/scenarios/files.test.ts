import { expect, test } from 'vitest';
import { ANA, BEN, buttonsOf, DORA, openStage, type Stage, SVEN, textOf } from './stage.ts';

const OPS = 'C0OPS000001';
const GENERAL = 'C0GENERAL01';
const PARTNERS = 'C0PARTNERS1';
const NAME = 'costs-2026-11-13-2026-11-19.csv';

/** The files that a user sees, with channel, thread and name. */
function filesOf(stage: Stage, as: string) {
  return stage.slack
    .clientState(as)
    .messages.flatMap(({ channel, threadTs, files }) =>
      files.map(({ name }) => ({ channel, threadTs, name })),
    );
}

/** Opens the command palette for Ana in a thread of her message with an answer of another user. */
async function openPaletteInThread(stage: Stage, channel: string, other: string) {
  await stage.slack.sendMessage({ as: ANA, channel, text: 'what does it cost?' });
  const ts = stage.slack.messages(channel).at(-1)?.ts ?? '';
  await stage.slack.sendMessage({ as: other, channel, threadTs: ts, text: 'let us see' });
  await stage.slack.shortcut({ as: ANA, callbackId: 'command.palette', channel, ts });
  const view = await stage.modal(ANA, 'command.palette');
  const shown = () => JSON.stringify(stage.slack.clientState(ANA).views.at(-1)?.blocks);
  await expect.poll(shown).not.toContain('Loading');
  return { ts, view };
}

async function ask(stage: Stage, view: string, name: string, words: string) {
  const option = { text: { type: 'plain_text', text: name }, value: name };
  await stage.slack.press({
    as: ANA,
    place: { in: 'view', viewId: view },
    blockId: 'command',
    actionId: 'command',
    element: { type: 'static_select', action_id: 'command', selected_option: option },
  });
  const form = await stage.modal(ANA, name.replace(' ', '.'));
  await stage.slack.submit(ANA, form, {
    words: { words: { type: 'plain_text_input', value: words } },
  });
}

test('a CSV requested in a thread is posted there for all its readers', async () => {
  const stage = await openStage();
  const { ts, view } = await openPaletteInThread(stage, OPS, BEN);
  await ask(stage, view, 'cost csv', '7d');
  const answer = await stage.privateWord(ANA, 'is in this thread, visible to everyone in it');
  expect(answer).toMatchObject({ channel: OPS, threadTs: ts });
  expect(filesOf(stage, DORA)).toEqual([{ channel: OPS, threadTs: ts, name: NAME }]);
});

test.for([
  ['the channel is shared with another workspace', PARTNERS],
  ['the app is not a member', GENERAL],
] as const)('where %s, the CSV is sent in a direct message', async ([, channel]) => {
  const stage = await openStage();
  const { view } = await openPaletteInThread(stage, channel, BEN);
  await ask(stage, view, 'cost csv', '7d');
  await stage.privateWord(ANA, 'is in your direct messages with Signalbox');
  expect(filesOf(stage, ANA)).toMatchObject([{ name: NAME }]);
  expect([...filesOf(stage, SVEN), ...filesOf(stage, BEN)]).toEqual([]);
});

test('where the readers of a thread are unknown, the CSV is sent in a direct message', async () => {
  const stage = await openStage();
  const { view } = await openPaletteInThread(stage, OPS, BEN);
  const how = { error: 'internal_error' };
  stage.slack.failNext({ method: 'conversations.info', times: 9, how });
  await ask(stage, view, 'cost csv', '7d');
  await stage.privateWord(ANA, 'is in your direct messages with Signalbox');
  expect(filesOf(stage, BEN)).toEqual([]);
});

test('a button below a digest posts the CSV of its month into the thread', async () => {
  const stage = await openStage();
  await stage.slack.command(ANA, 'db-costs', '/cost digest add at=14:00');
  await stage.press(ANA, await stage.privateWord(ANA, 'Digest added'), 'command.1');
  const below = () =>
    stage.slack
      .messages('db-costs')
      .find(({ threadTs, text }) => threadTs && text.includes('Cost'));
  await expect.poll(below).toBeDefined();
  const table = below();
  expect(table && buttonsOf(table)).toContain('command.0');
  await stage.press(BEN, table, 'command.0');
  await expect
    .poll(() => filesOf(stage, DORA))
    .toMatchObject([{ threadTs: table?.threadTs, name: 'costs-2026-11-01-2026-11-17.csv' }]);
});

test('in a workspace without the newest blocks, the figures are shown as text', async () => {
  const stage = await openStage();
  const { ts, view } = await openPaletteInThread(stage, OPS, BEN);
  const how = { error: 'invalid_blocks' };
  stage.slack.failNext({ method: 'chat.postEphemeral', times: 1, how });
  await ask(stage, view, 'cost', '7d');
  const answer = await stage.privateWord(ANA, '13–19 Nov (UTC)');
  expect(answer).toMatchObject({ channel: OPS, threadTs: ts });
  expect(answer && textOf(answer)).not.toContain('data_table');
  expect(answer && textOf(answer)).toContain('rich_text_preformatted');
});
