import { expect, test } from 'vitest';
import { textOf } from '../harness/messages.ts';
import { asTimePasses } from '../harness/passing-time.ts';
import { changeIdOf, requestChange, waitUntilIdle } from '../harness/requests.ts';
import { startTestSandbox, type TestSandbox } from '../harness/test-sandbox.ts';
import { ANA, BEN, CLEO } from '../harness/users.ts';

const NOT_COUNTED = 'This button is not where Signalbox put it';

/** A call of the Web API by an attacker who has the bot token. */
async function withToken(
  { slack }: TestSandbox,
  method: string,
  args: object,
): Promise<{ readonly channel: string; readonly ts: string }> {
  const headers = {
    authorization: `Bearer ${slack.botToken}`,
    'content-type': 'application/json',
  };
  const body = JSON.stringify(args);
  const reply = await fetch(`${slack.apiUrl}${method}`, { method: 'POST', headers, body });
  const { ok, channel, ts, message_ts } = JSON.parse(await reply.text());
  expect(ok).toBe(true);
  return { channel: channel ?? 'C0APPROVALS', ts: ts ?? message_ts };
}

const heading = { type: 'section', text: { type: 'plain_text', text: 'Order pizza?' } };

function blocksWith(id: string, value: string) {
  const label = { type: 'plain_text', text: 'Yes' };
  return [
    heading,
    { type: 'actions', elements: [{ type: 'button', action_id: id, value, text: label }] },
  ];
}

function notices({ slack }: TestSandbox): readonly string[] {
  const texts = slack.messages('db-audit').map(textOf);
  return texts.filter((text) => text.includes('did not count'));
}

/** A card may be faster than its event, so that a press in a message is refused after 30 s. */
async function refused(sandbox: TestSandbox, user: string, times = 1): Promise<void> {
  const refusals = () =>
    sandbox.slack.clientState(user).messages.filter((each) => textOf(each).includes(NOT_COUNTED));
  await expect.poll(asTimePasses(sandbox, 11_000, refusals)).toHaveLength(times);
}

test('two approvers who press Approve in a message of the bot token approve nothing, and operators read it', async () => {
  const sandbox = await startTestSandbox();
  const card = await requestChange(sandbox, ANA, '/service stop analytics-prod for the night');
  const id = changeIdOf(card);
  const blocks = blocksWith('change.approve', id);
  const fake = await withToken(sandbox, 'chat.postMessage', { channel: card.channel, blocks });
  for (const approver of [BEN, CLEO]) {
    await sandbox.press(approver, fake, 'change.approve');
    await refused(sandbox, approver);
  }
  await expect.poll(() => notices(sandbox)).toHaveLength(2);
  expect(notices(sandbox)[0]).toContain(`A press of approve on change ${id} did not count`);
  expect(notices(sandbox)[0]).toContain(fake.ts);
  expect(sandbox.cloud.count('set state')).toBe(0);

  await sandbox.press(BEN, card, 'change.approve');
  await sandbox.card('1 of 2');
  await sandbox.press(CLEO, card, 'change.approve');
  await sandbox.card('analytics-prod is stopping');
});

const user = (sandbox: TestSandbox, args: object) =>
  withToken(sandbox, 'chat.postEphemeral', { ...args, user: BEN, text: 'x' });

test('a press in any other message of the bot token does not count', async () => {
  const sandbox = await startTestSandbox();
  const card = await requestChange(sandbox);
  await sandbox.slack.openHome({ as: BEN });
  const blocks = blocksWith('change.approve', changeIdOf(card));
  const fakes = [
    await user(sandbox, { channel: 'C0APPROVALS', blocks }),
    await withToken(sandbox, 'chat.postMessage', { channel: BEN, blocks }),
    await withToken(sandbox, 'chat.postMessage', { channel: '#db-audit', blocks }),
  ];
  for (const [before, fake] of fakes.entries()) {
    await sandbox.press(BEN, fake, 'change.approve');
    await refused(sandbox, BEN, before + 1);
    await expect.poll(() => notices(sandbox)).toHaveLength(before + 1);
  }
  await waitUntilIdle(sandbox);
  expect(sandbox.cloud.count('set state')).toBe(0);
});

test('a press on a Home tab of the bot token does not count, and one on the own Home tab does', async () => {
  const sandbox = await startTestSandbox();
  const card = await requestChange(sandbox);
  await sandbox.slack.openHome({ as: BEN });
  const home = () => JSON.stringify(sandbox.slack.clientState(BEN).home ?? null);
  await expect.poll(home).toContain(`${changeIdOf(card)}.`);
  const blocks = blocksWith('change.approve', changeIdOf(card));
  await withToken(sandbox, 'views.publish', { user_id: BEN, view: { type: 'home', blocks } });
  await sandbox.slack.click(BEN, { in: 'home' }, 'change.approve');
  await refused(sandbox, BEN);
  expect(sandbox.cloud.count('set state')).toBe(0);
  await expect.poll(home).toContain(`${changeIdOf(card)}.`);
  await sandbox.slack.click(BEN, { in: 'home' }, 'change.approve');
  await sandbox.card('staging is stopping');
});

test('the signed button of a preview works for its requester in no channel', async () => {
  const sandbox = await startTestSandbox();
  const preview = await sandbox.ask(ANA, '/service stop staging for the night', 'Stop staging?');
  const [, value = ''] = /"value":"(\w{6}\.[\w-]{22})"/.exec(JSON.stringify(preview?.blocks)) ?? [];
  expect(value).not.toBe('');
  const blocks = blocksWith('change.confirm', value);
  const copy = await withToken(sandbox, 'chat.postMessage', { channel: '#ops', blocks });
  await sandbox.press(ANA, copy, 'change.confirm');
  await refused(sandbox, ANA);
  await sandbox.press(ANA, preview, 'change.confirm');
  await sandbox.card('requests: stop staging');
});

const DIGEST = '/cost digest add #db-costs at=09:30 zone=Europe/Berlin';

test('a command that acts at once does nothing in a message of the bot token, and operators read it', async () => {
  const sandbox = await startTestSandbox();
  const added = await sandbox.ask(BEN, DIGEST, 'Digest added');
  const [, id = ''] = /cost digest remove (\w+)/.exec(JSON.stringify(added?.blocks)) ?? [];
  const posts = () => sandbox.slack.messages('db-costs').length;
  await waitUntilIdle(sandbox);
  const before = posts();
  const blocksOf = (line: string) => blocksWith('command.0', line);
  const fakes = [
    await withToken(sandbox, 'chat.postMessage', {
      channel: '#ops',
      blocks: blocksOf(`cost digest remove ${id} confirm=yes`),
    }),
    await withToken(sandbox, 'chat.postMessage', {
      channel: BEN,
      blocks: blocksOf(`cost digest pause ${id}`),
    }),
    await user(sandbox, { channel: 'C0APPROVALS', blocks: blocksOf(`cost digest now ${id}`) }),
  ];
  for (const [earlier, fake] of fakes.entries()) {
    await sandbox.press(BEN, fake, 'command.0');
    await refused(sandbox, BEN, earlier + 1);
    await expect.poll(() => notices(sandbox)).toHaveLength(earlier + 1);
    expect(notices(sandbox).at(-1)).toContain('A press of “cost digest” did not count');
  }
  await waitUntilIdle(sandbox);
  expect(posts()).toBe(before);
  await sandbox.slack.command(BEN, 'ops', '/cost digest list');
  expect(textOf(await sandbox.privateMessage(BEN, '1 cost digest'))).not.toContain('paused');
});

test('a line that only answers is answered wherever its button stands', async () => {
  const sandbox = await startTestSandbox();
  const blocks = blocksWith('command.0', 'change list');
  const fake = await withToken(sandbox, 'chat.postMessage', { channel: '#ops', blocks });
  await sandbox.press(BEN, fake, 'command.0');
  await sandbox.privateMessage(BEN, 'No changes');
  expect(notices(sandbox)).toEqual([]);
});
