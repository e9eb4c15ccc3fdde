import { expect, test } from 'vitest';
import { messageOf } from '../../sandbox/page/text/permalink.ts';
import { textOf } from '../harness/messages.ts';
import { changeIdOf, requestChange, threadText, waitUntilIdle } from '../harness/requests.ts';
import { startTestSandbox, type TestSandbox } from '../harness/test-sandbox.ts';
import { ANA, BEN } from '../harness/users.ts';

type Card = Awaited<ReturnType<typeof requestChange>>;
const APPROVALS = 'C0APPROVALS';

interface Node {
  readonly [key: string]: unknown;
}

function nodesOf(value: unknown): readonly Node[] {
  if (typeof value !== 'object' || value === null) return [];
  return [value as Node, ...Object.values(value).flatMap(nodesOf)];
}

/** The place to which the link with these words leads; null without such a link. */
function linkIn(blocks: unknown, words: string) {
  const nodes = nodesOf(blocks);
  const link = nodes.find(({ type, text }) => type === 'link' && text === words);
  if (link) return messageOf(String(link.url));
  // A row has its link in mrkdwn, beside its button.
  const texts = nodes.flatMap(({ type, text }) => (type === 'mrkdwn' ? String(text) : []));
  const [, url] = new RegExp(`<(https:[^<>|]*)\\|${words}>`).exec(texts.join('\n')) ?? [];
  return url ? messageOf(url) : null;
}

const placeOfCard = ({ ts }: Card) => ({ channel: APPROVALS, message: ts, thread: null });

function sentTo({ slack }: TestSandbox, as: string, words: string) {
  const { messages } = slack.clientState(as);
  return messages.findLast(
    (message) =>
      (message.ephemeral || message.channel.startsWith('D')) && textOf(message).includes(words),
  )?.blocks;
}

function threadBlocks({ slack }: TestSandbox, card: Card, words: string) {
  return slack
    .messages('db-approvals')
    .find(({ threadTs, ...each }) => threadTs === card.ts && textOf(each).includes(words))?.blocks;
}

function home({ slack }: TestSandbox, as: string) {
  return slack.clientState(as).home ?? [];
}

test('an answered preview, Home, lists, previews of related changes and reminders link to the card', async () => {
  const sandbox = await startTestSandbox();
  const card = await requestChange(sandbox);
  const answered = () => sentTo(sandbox, ANA, 'Sent to #db-approvals');
  await expect.poll(() => linkIn(answered(), 'Open card')).toEqual(placeOfCard(card));
  for (const as of [ANA, BEN]) {
    await sandbox.slack.openHome({ as });
    await expect.poll(() => linkIn(home(sandbox, as), 'card')).toEqual(placeOfCard(card));
  }
  const id = changeIdOf(card);
  for (const [as, line, words, text] of [
    [BEN, '/change list', 'waiting for approval', 'card'],
    [BEN, `/change show ${id}`, 'History', 'Card'],
    [ANA, '/service stop staging once more', 'requested “stop staging”', id],
  ] as const) {
    await sandbox.ask(as, line, words);
    expect(linkIn(sentTo(sandbox, as, words), text)).toEqual(placeOfCard(card));
  }
  sandbox.pass(12 * 3_600_000);
  await expect.poll(() => threadText(sandbox, card.ts)).toContain('still needs one more approval');
  const reminder = threadBlocks(sandbox, card, 'still needs');
  expect(linkIn(reminder, 'Open card')).toEqual(placeOfCard(card));
});

test('the thread, a direct message and the audit channel link to the card', async () => {
  const sandbox = await startTestSandbox();
  sandbox.slack.admin.kick('db-approvals', ANA);
  const card = await requestChange(sandbox);
  await sandbox.press(BEN, card, 'change.approve');
  await expect.poll(() => threadText(sandbox, card.ts)).toContain('staging is stopping');
  const thread = threadBlocks(sandbox, card, 'staging is stopping');
  expect(linkIn(thread, 'The card')).toEqual(placeOfCard(card));
  const direct = () => sentTo(sandbox, ANA, 'shows the response');
  await expect.poll(() => linkIn(direct(), 'The card')).toEqual(placeOfCard(card));
  const audit = () => sandbox.slack.messages('db-audit').flatMap(({ blocks }) => blocks);
  await expect.poll(() => linkIn(audit(), changeIdOf(card))).toEqual(placeOfCard(card));
});

test('the use of break-glass is announced with a link to the card', async () => {
  const sandbox = await startTestSandbox();
  const card = await requestChange(sandbox, ANA, '/service stop analytics-prod "at once"');
  await sandbox.pressWithReason(ANA, card, 'change.break-glass', 'an emergency');
  await expect.poll(() => threadText(sandbox, card.ts)).toContain('used break-glass');
  const thread = threadBlocks(sandbox, card, 'used break-glass');
  expect(linkIn(thread, 'the card')).toEqual(placeOfCard(card));
  const line = () =>
    sandbox.slack.messages('db-audit').find((each) => textOf(each).includes('used break-glass'));
  await expect.poll(() => linkIn(line()?.blocks, changeIdOf(card))).toEqual(placeOfCard(card));
});

const OUTAGE = { method: 'chat.getPermalink', times: 50, how: { error: 'fatal_error' } } as const;

test('without permalinks every answer arrives as plain text', async () => {
  const sandbox = await startTestSandbox();
  sandbox.slack.failNext(OUTAGE);
  const card = await requestChange(sandbox);
  const lookups = () => sandbox.slack.calls('chat.getPermalink').length;
  await expect.poll(lookups).toBe(1);
  await waitUntilIdle(sandbox);
  await sandbox.ask(BEN, `/change show ${changeIdOf(card)}`, 'History');
  const shown = sentTo(sandbox, BEN, 'History');
  expect(JSON.stringify(shown)).toContain('"text":"Card"');
  expect(linkIn(shown, 'Card')).toBeNull();
  await sandbox.ask(BEN, '/change list', 'waiting for approval');
  await sandbox.press(BEN, card, 'change.approve');
  await sandbox.card('staging is stopping');
  // The first failure pauses all lookups.
  expect(lookups()).toBe(1);
});

test('an audit line that was posted without a link is not posted again with one', async () => {
  const sandbox = await startTestSandbox();
  sandbox.slack.failNext(OUTAGE);
  const card = await requestChange(sandbox);
  const lines = () =>
    sandbox.slack
      .messages('db-audit')
      .filter(
        ({ text }) => text.includes('staging is stopping') && text.includes(changeIdOf(card)),
      );
  const words = 'staging is stopping';
  sandbox.slack.failNext({ method: 'chat.postMessage', words, times: 2, how: 'reply-lost' });
  await sandbox.press(BEN, card, 'change.approve');
  await expect.poll(lines).toHaveLength(1);
  sandbox.slack.clearFaults();
  sandbox.pass(120_000);
  await expect.poll(() => threadText(sandbox, card.ts)).toContain('staging is stopping');
  await waitUntilIdle(sandbox);
  expect(lines()).toHaveLength(1);
});
