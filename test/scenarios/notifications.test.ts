import { expect, test } from 'vitest';
import { passUntil, startExtended } from '../harness/following.ts';
import { timeInSteps } from '../harness/passing-time.ts';
import { requestChange, setTime, waitUntilIdle } from '../harness/requests.ts';
import { startTestSandbox, type TestSandbox } from '../harness/test-sandbox.ts';
import { ANA, BEN } from '../harness/users.ts';
import { emptyUrl } from '../storage/engines.ts';

// How many messages a change posts, and whom they notify: those who must act once, the requester once when it is over.

const LEADS = 'S0DBLEADS01';

/** The users and groups that the blocks of a message mention. */
function mentionsIn(value: unknown): readonly string[] {
  if (typeof value !== 'object' || value === null) return [];
  const { user_id: user, usergroup_id: group } = value as Record<string, unknown>;
  const own = [user, group].filter((id) => typeof id === 'string');
  return [...own, ...Object.values(value).flatMap(mentionsIn)];
}

/** What a change posted in its channel: the cards, and the lines of threads with the users that they mention. */
function posted({ slack }: TestSandbox) {
  const all = slack.messages('db-approvals').filter(({ ephemeralFor }) => ephemeralFor === null);
  const lines = all.filter(({ threadTs }) => threadTs !== null);
  return {
    cards: all.length - lines.length,
    quiet: lines.filter(({ blocks }) => mentionsIn(blocks).length === 0).length,
    notified: lines.map(({ blocks }) => mentionsIn(blocks)).filter((ids) => ids.length > 0),
  };
}

/** The approvers whom a card mentions when it is posted; Slack sends no notification for a redrawn one. */
const asked = (card: { readonly blocks: unknown }) =>
  mentionsIn(card.blocks).filter((id) => id === LEADS);

function pass(sandbox: TestSandbox, minutes: number) {
  sandbox.pass(minutes * 60_000);
}

const directs = ({ slack }: TestSandbox) =>
  [ANA, BEN].flatMap((user) =>
    slack
      .clientState(user)
      .messages.filter(({ channel, ephemeral }) => channel[0] === 'D' && !ephemeral),
  );

test('a change notifies its approvers once, and its requester once when it is over', async () => {
  const sandbox = await startExtended();
  const card = await requestChange(sandbox);
  expect(asked(card)).toEqual([LEADS]);
  await sandbox.press(BEN, card, 'change.approve');
  await passUntil(sandbox, 'staging', 'staging is stopped');
  await expect.poll(() => posted(sandbox).quiet).toBe(2);
  expect(posted(sandbox)).toEqual({ cards: 1, quiet: 2, notified: [[ANA]] });
  expect(directs(sandbox)).toEqual([]);
});

test('four runs of a schedule notify nobody: each has one quiet line in the thread of its card', async () => {
  const sandbox = await startExtended({ databaseUrl: await emptyUrl('sqlite') });
  const times = 'stop="daily 20:00" start="daily 07:00" zone=Etc/UTC';
  await sandbox.confirm(ANA, `/service schedule staging ${times} nights`, 'Schedule staging?');
  await sandbox.press(BEN, await sandbox.card('requests: schedule staging'), 'change.approve');
  await sandbox.card('staging is scheduled');
  // A private answer that comes after half an hour would be a direct message.
  await sandbox.privateMessage(ANA, 'Sent to #db-approvals');
  await expect.poll(() => posted(sandbox).notified).toEqual([[ANA]]);
  const before = posted(sandbox);
  const minute = timeInSteps(sandbox, 60_000);
  for (let day = 20; day < 22; day += 1) {
    for (const [hour, at] of [
      ['20:00', day],
      ['07:00', day + 1],
    ] as const) {
      setTime(sandbox, hour, `2026-11-${at}`);
      const verb = hour === '20:00' ? 'stop' : 'start';
      // What is read at this hour may use up the requests of ten seconds.
      await waitUntilIdle(sandbox);
      pass(sandbox, 0.25);
      await expect
        .poll(
          () =>
            sandbox.cloud.requests().filter(({ operation }) => operation === 'set state').length,
        )
        .toBe((day - 20) * 2 + (verb === 'stop' ? 1 : 2));
      // Until the service is read as stopped or started.
      for (let passed = 0; passed < 4; passed += 1) await expect.poll(minute).toBe(true);
      await waitUntilIdle(sandbox);
    }
  }
  await expect.poll(() => posted(sandbox).quiet).toBe(before.quiet + 4);
  expect(posted(sandbox)).toEqual({ ...before, quiet: before.quiet + 4 });
  expect(directs(sandbox)).toEqual([]);
});

test('a change that nobody decides reminds its approvers at half-time and before its expiry', async () => {
  const sandbox = await startTestSandbox();
  await requestChange(sandbox);
  // Its rule has no expiry of its own: one day.
  for (const [hours, notified] of [
    [12, [LEADS]],
    [9.6, [LEADS]],
    [2.4, [ANA]],
  ] as const) {
    const before = posted(sandbox).notified;
    pass(sandbox, hours * 60);
    await expect.poll(() => posted(sandbox).notified).toEqual([...before, notified]);
  }
  expect(posted(sandbox)).toMatchObject({ cards: 1, quiet: 0 });
});

test('an unknown outcome notifies the requester and those who may record it, and then its requester', async () => {
  const sandbox = await startTestSandbox();
  sandbox.cloud.injectFault({ operation: 'set state', fault: 'close-after-effect', times: 1 });
  const card = await requestChange(sandbox);
  await sandbox.press(BEN, card, 'change.approve');
  await sandbox.card('outcome unknown');
  await expect.poll(() => posted(sandbox).notified).toEqual([[ANA, LEADS]]);
  expect(posted(sandbox)).toMatchObject({ cards: 1, quiet: 1 });
});
