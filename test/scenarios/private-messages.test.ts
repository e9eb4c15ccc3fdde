import { expect, test } from 'vitest';
import type { StoredMessage } from '../../sandbox/slack/records.ts';
import type { EditYaml } from '../harness/config.ts';
import { buttonsOf, placeOf, textOf } from '../harness/messages.ts';
import { changeIdOf } from '../harness/requests.ts';
import { startTestSandbox, type TestSandbox } from '../harness/test-sandbox.ts';
import { ANA, BEN } from '../harness/users.ts';

const OPS = 'C0OPS000001';

/** Fills the form to stop a service that is open, and returns the preview. */
async function submitStop(sandbox: TestSandbox, service = 'staging', reason = 'for the night') {
  const viewId = await sandbox.modal(ANA, 'service.stop');
  const [option] = await sandbox.optionsFor(ANA, viewId, 'service', service);
  await sandbox.slack.submit(ANA, viewId, {
    service: { service: { type: 'external_select', selected_option: option } },
    reason: { reason: { type: 'plain_text_input', value: reason } },
  });
  const preview = await sandbox.privateMessage(ANA, `Stop ${service}?`);
  if (!preview) throw new Error('There is no preview');
  return preview;
}

/** The ways to a preview, with the kind of message in which it arrives. */
const WAYS: readonly (readonly [string, (sandbox: TestSandbox) => Promise<unknown>])[] = [
  ['a shortcut', ({ slack }) => slack.shortcut({ as: ANA, callbackId: 'service.stop' })],
  [
    'the Home tab',
    async ({ slack }) => {
      await slack.openHome({ as: ANA });
      await expect.poll(() => slack.clientState(ANA).home).toBeTruthy();
      await slack.click(ANA, { in: 'home' }, 'command.service.stop');
    },
  ],
  [
    'a form in a channel without the bot',
    ({ slack }) => slack.command(ANA, 'general', '/service stop'),
  ],
  ['a form in a channel with the bot', ({ slack }) => slack.command(ANA, 'ops', '/service stop')],
];

async function previewBy(open: (sandbox: TestSandbox) => Promise<unknown>) {
  const sandbox = await startTestSandbox();
  await open(sandbox);
  return { sandbox, preview: await submitStop(sandbox) };
}

/** A policy of which no rule needs approvals, in a workspace without an approvals channel. */
const withoutApprovals: EditYaml = (file) => {
  const { policy } = Object(file);
  return {
    ...file,
    channels: { audit: '#db-audit' },
    policy: policy.map(({ approvals, ...rule }: { readonly approvals?: unknown }) => rule),
  };
};

/** The message at this position as its reader sees it. */
function shown(
  { slack }: TestSandbox,
  { channel, ts }: StoredMessage | { channel: string; ts: string },
) {
  const found = slack.messages(channel).find((each) => each.ts === ts);
  return found ?? { text: '', blocks: [] };
}

/** The private messages of Ana that still offer a decision about a draft. */
function live({ slack }: TestSandbox) {
  const { messages } = slack.clientState(ANA);
  return messages.filter((each) => buttonsOf(each).includes('change.confirm'));
}

test.for(WAYS)(
  'an edited preview, and the answer to it, replace the preview from %s',
  async ([, open]) => {
    const { sandbox, preview } = await previewBy(open);
    await sandbox.press(ANA, preview, 'change.edit');
    await submitStop(sandbox, 'staging', 'for the weekend');
    await expect.poll(() => textOf(shown(sandbox, preview))).toContain('for the weekend');
    expect(live(sandbox)).toHaveLength(1);
    await sandbox.press(ANA, preview, 'change.confirm');
    await expect.poll(() => textOf(shown(sandbox, preview))).toContain('Sent to #db-approvals');
    expect(buttonsOf(shown(sandbox, preview))).toEqual([]);
    expect(live(sandbox)).toEqual([]);
    await sandbox.card('requests: stop staging');
  },
);

test('Cancel replaces a preview in direct messages', async () => {
  const { sandbox, preview } = await previewBy(({ slack }) =>
    slack.shortcut({ as: ANA, callbackId: 'service.stop' }),
  );
  await sandbox.press(ANA, preview, 'change.cancel');
  await expect.poll(() => textOf(shown(sandbox, preview))).toContain('Nothing was changed.');
  expect(buttonsOf(shown(sandbox, preview))).toEqual(['change.request-again']);
});

test('an edited preview is a new message when the response URL of the old one has expired', async () => {
  const sandbox = await startTestSandbox();
  const preview = await sandbox.ask(ANA, '/service stop staging for the night', 'Stop staging?');
  await sandbox.press(ANA, preview, 'change.edit');
  await sandbox.modal(ANA, 'service.stop');
  sandbox.clock.now = new Date(sandbox.clock.now.getTime() + 31 * 60_000);
  await submitStop(sandbox, 'staging', 'for the weekend');
  await sandbox.privateMessage(ANA, 'for the weekend');
  // The draft of the old preview was withdrawn, which the press of its buttons shows.
  await sandbox.press(ANA, preview, 'change.confirm');
  await expect.poll(() => live(sandbox)).toHaveLength(1);
  expect(textOf(live(sandbox)[0] ?? { text: '', blocks: [] })).toContain('for the weekend');
});

test('break-glass replaces a preview in direct messages', async () => {
  const sandbox = await startTestSandbox();
  await sandbox.slack.shortcut({ as: ANA, callbackId: 'service.stop' });
  const preview = await submitStop(sandbox, 'analytics-prod');
  await sandbox.pressWithReason(ANA, preview, 'change.break-glass', 'the shop is down');
  await expect.poll(() => buttonsOf(shown(sandbox, preview))).toEqual([]);
});

test('a card in direct messages is not replaced by the answer to its button', async () => {
  const sandbox = await startTestSandbox({ yaml: withoutApprovals });
  await sandbox.confirm(ANA, '/service stop staging at=20:00 for the night', 'Stop staging?');
  // The answer in place of the preview has the same title, but names no requester and has no button.
  const card = await sandbox.privateMessage(ANA, 'Requested by');
  await sandbox.press(ANA, card, 'change.cancel');
  await sandbox.privateMessage(ANA, 'Stop staging: cancelled');
  await sandbox.slack.press({
    as: ANA,
    place: placeOf(card),
    blockId: 'card:3',
    actionId: 'change.cancel',
    element: { type: 'button', value: changeIdOf(card) },
  });
  await sandbox.privateMessage(ANA, 'Already cancelled');
  expect(textOf(shown(sandbox, card ?? { channel: '', ts: '' }))).toContain('Requested by');
});

const expired = { method: 'response_url', times: 1, how: { error: 'expired_url' } } as const;

test('the answer to a button in a thread stays there when its response URL has expired', async () => {
  const sandbox = await startTestSandbox();
  const { slack } = sandbox;
  await slack.sendMessage({ as: BEN, channel: OPS, text: 'staging is slow' });
  const thread = slack.messages(OPS).at(-1)?.ts ?? '';
  const line = '@signalbox service show stagign';
  await slack.sendMessage({ as: ANA, channel: OPS, threadTs: thread, text: line });
  const offer = await sandbox.privateMessage(ANA, 'stagign');
  slack.failNext(expired);
  await sandbox.press(ANA, offer, 'command.0');
  const answer = await sandbox.privateMessage(ANA, '/service show staging');
  expect(answer).toMatchObject({ ephemeral: true, threadTs: thread });
});
