import { expect, test } from 'vitest';
import type { StoredMessage } from '../../sandbox/slack/records.ts';
import { textOf } from '../harness/messages.ts';
import { asTimePasses } from '../harness/passing-time.ts';
import { REFUSED } from '../harness/refused.ts';
import { requestChange, STAGING } from '../harness/requests.ts';
import { startTestSandbox, type TestSandbox } from '../harness/test-sandbox.ts';
import { ANA, BEN, CLEO, GUS } from '../harness/users.ts';

/** Cleo may approve, and is not in the approvals channel. */
async function withoutCleo(): Promise<TestSandbox> {
  const sandbox = await startTestSandbox({ yaml: (file) => ({ ...file, notify: 'dm' }) });
  sandbox.slack.admin.kick('db-approvals', CLEO);
  return sandbox;
}

/** The copies of the card in the direct messages of a user. */
function copies({ slack }: TestSandbox, of: string): readonly StoredMessage[] {
  const ids = new Set(
    slack
      .clientState(of)
      .messages.filter(({ channel, ephemeral }) => channel[0] === 'D' && !ephemeral)
      .map(({ ts }) => ts),
  );
  return slack
    .messages(`D${of.slice(1)}`)
    .filter(({ ts, text }) => ids.has(ts) && /stop staging|staging is stop/i.test(text));
}

const titleOf = (message: StoredMessage | undefined) => message?.text.split(' · ')[0];

test('with notify: dm, approvers outside the channel get the card, redrawn in every state', async () => {
  const sandbox = await withoutCleo();
  await requestChange(sandbox);
  await expect.poll(() => copies(sandbox, CLEO)).toHaveLength(1);
  const [copy] = copies(sandbox, CLEO);
  expect(titleOf(copy)).toBe(`○ <@${ANA}> requests: stop staging`);
  expect([BEN, GUS, ANA].flatMap((user) => copies(sandbox, user))).toEqual([]);

  await sandbox.press(CLEO, copy, 'change.approve');
  await sandbox.card('staging is stopping');
  await expect.poll(() => copies(sandbox, CLEO).map(titleOf)).toEqual(['◐ staging is stopping']);
  expect(sandbox.cloud.effectCount('set state', STAGING)).toBe(1);
});

test('a press in the direct messages has the checks of the card', async () => {
  const sandbox = await withoutCleo();
  await requestChange(sandbox);
  await expect.poll(() => copies(sandbox, CLEO)).toHaveLength(1);
  await sandbox.slack.admin.setGroup('db-leads', [BEN, GUS]);
  await sandbox.press(CLEO, copies(sandbox, CLEO)[0], 'change.approve');
  await sandbox.privateMessage(CLEO, REFUSED.notAnApprover);
  expect(copies(sandbox, CLEO).map(titleOf)).toEqual([`○ <@${ANA}> requests: stop staging`]);
  expect(sandbox.cloud.count('set state')).toBe(0);
});

test('a requester who left the channel gets one direct message at the ending', async () => {
  const sandbox = await startTestSandbox();
  const card = await requestChange(sandbox);
  sandbox.slack.admin.kick('db-approvals', ANA);
  const lost = { channel: ANA, times: 1, how: 'reply-lost' } as const;
  sandbox.slack.failNext({ method: 'chat.postMessage', ...lost });
  await sandbox.press(BEN, card, 'change.approve');
  await sandbox.card('staging is stopping');
  const endings = () =>
    sandbox.slack
      .messages(`D${ANA.slice(1)}`)
      .map(textOf)
      .filter((text) => text.includes('staging is stopping'));
  const lookups = () => sandbox.slack.calls('conversations.open').length;
  await expect.poll(asTimePasses(sandbox, 6_000, lookups)).toBeGreaterThan(0);
  expect(endings()).toHaveLength(1);
});
