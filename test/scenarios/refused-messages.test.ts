import { expect, test } from 'vitest';
import { buttonsOf, textOf } from '../harness/messages.ts';
import { requestChange, waitUntilIdle } from '../harness/requests.ts';
import { startTestSandbox, type TestSandbox } from '../harness/test-sandbox.ts';
import { ANA, BEN, CLEO } from '../harness/users.ts';

/** Ana requests and confirms a change whose card is refused. */
async function confirmed(sandbox: TestSandbox): Promise<void> {
  await sandbox.confirm(ANA, '/service stop staging for the night', 'staging?');
}

function notices({ slack }: TestSandbox, words: string): readonly string[] {
  return slack
    .messages('db-audit')
    .map(textOf)
    .filter((text) => text.includes(words));
}

function textsOf({ slack }: TestSandbox, user: string): string {
  return slack.clientState(user).messages.map(textOf).join('\n');
}

test.for<[string, string, (sandbox: TestSandbox) => void]>([
  [
    'is archived',
    'the channel is archived (is_archived)',
    ({ slack }) => slack.admin.archive('db-approvals'),
  ],
  [
    'gets an error of the app',
    'the app was uninstalled',
    ({ slack }) => {
      const how = { error: 'account_inactive' };
      for (const channel of ['#db-approvals', 'C0APPROVALS'])
        slack.failNext({ method: 'chat.postMessage', channel, times: 10_000, how });
    },
  ],
])(
  'when the approvals channel %s, requester and operators read it, approvers get the card, and nothing runs',
  async ([, why, refuse]) => {
    const sandbox = await startTestSandbox();
    refuse(sandbox);
    const refused = () =>
      sandbox.slack.calls('chat.postMessage').filter(({ reply }) => reply?.ok === false);
    await confirmed(sandbox);
    const told = await sandbox.privateMessage(ANA, 'could not be posted');
    expect(told && textOf(told)).toContain(why);
    expect(textsOf(sandbox, ANA)).not.toContain('Sent to');
    await expect.poll(() => notices(sandbox, 'could not be posted')).toHaveLength(1);
    expect(notices(sandbox, 'could not be posted')[0]).toContain(why);

    const copy = await sandbox.privateMessage(BEN, 'requests: stop staging');
    await sandbox.privateMessage(CLEO, 'requests: stop staging');
    sandbox.pass(30 * 60_000);
    await waitUntilIdle(sandbox);
    expect(refused()).toHaveLength(1);
    await sandbox.press(BEN, copy, 'change.approve');
    await sandbox.privateMessage(BEN, 'Stop staging: approved');
    // Its thread would be the witness: nothing runs before a card stands in a channel.
    await waitUntilIdle(sandbox);
    expect(sandbox.cloud.count('set state')).toBe(0);
    expect(notices(sandbox, 'could not be posted')).toHaveLength(1);
  },
);

test('who requested a change whose card is refused reads that a copy of it was rejected', async () => {
  const sandbox = await startTestSandbox();
  await sandbox.slack.admin.archive('db-approvals');
  await confirmed(sandbox);
  await sandbox.privateMessage(ANA, 'could not be posted');
  const copy = await sandbox.privateMessage(BEN, 'requests: stop staging');
  await sandbox.pressWithReason(BEN, copy, 'change.reject', 'not tonight');
  const told = await sandbox.privateMessage(ANA, 'rejected “stop staging”');
  expect(told && textOf(told)).toContain('not tonight');
});

test('a note before a request that Slack refuses is reported to requester and operators, and nothing runs', async () => {
  const sandbox = await startTestSandbox();
  const card = await requestChange(sandbox);
  const note = { method: 'chat.postMessage', words: 'Sending “', times: 10_000 };
  sandbox.slack.failNext({ ...note, how: { error: 'restricted_action_thread_locked' } });
  await sandbox.press(BEN, card, 'change.approve');
  await sandbox.privateMessage(ANA, 'Slack refuses the note before its request');
  await expect.poll(() => notices(sandbox, 'the note before its request')).toHaveLength(1);
  expect(sandbox.cloud.count('set state')).toBe(0);
});

test('where the channel of a card is left after its post, requester and operators read it', async () => {
  const sandbox = await startTestSandbox();
  const { slack } = sandbox;
  const card = await requestChange(sandbox);
  slack.admin.kick('db-approvals', slack.workspace.botUserId);
  await sandbox.press(BEN, card, 'change.approve');
  await sandbox.privateMessage(ANA, 'could not be updated: Signalbox is not a member');
  await expect.poll(() => notices(sandbox, 'could not be updated')).toHaveLength(1);
  expect(sandbox.cloud.count('set state')).toBe(0);
});

test('a rate limit of one message delays all of that method until the time that Slack names', async () => {
  const sandbox = await startTestSandbox();
  const preview = await sandbox.ask(ANA, '/service stop staging for the night', 'staging?');
  const limited = { times: 1, how: 'rate-limited', retryAfterSeconds: 40 } as const;
  sandbox.slack.failNext({ method: 'chat.postMessage', ...limited });
  const calls = () => sandbox.slack.calls('chat.postMessage').length;
  const before = calls();
  await sandbox.press(ANA, preview, 'change.confirm');
  await expect.poll(calls).toBe(before + 1);
  await waitUntilIdle(sandbox);
  const pass = async (seconds: number) => {
    sandbox.pass(seconds * 1_000);
    await waitUntilIdle(sandbox);
  };
  await pass(20);
  await pass(19);
  expect(calls()).toBe(before + 1);
  await pass(1);
  await sandbox.card('requests: stop staging');
  expect(notices(sandbox, 'could not be posted')).toEqual([]);
});

test.for(['edit_window_closed', 'cant_update_message'])(
  'a card that Slack does not let be edited (%s) goes on in its thread, each state once',
  async (error) => {
    const sandbox = await startTestSandbox();
    const { slack } = sandbox;
    const card = await requestChange(sandbox);
    const { channel = '', ts = '' } = card ?? {};
    slack.failNext({ method: 'chat.update', channel, times: 10_000, how: { error } });
    sandbox.cloud.injectFault({ operation: 'set state', fault: 'close-after-effect', times: 1 });
    await sandbox.press(BEN, card, 'change.approve');
    const replies = () => slack.messages(channel).filter(({ threadTs }) => threadTs === ts);
    const states = () =>
      replies().filter((each) => textOf(each).includes('not let the card be edited'));
    await expect.poll(() => states().map(textOf).join()).toContain('outcome unknown');
    await waitUntilIdle(sandbox);
    const shown = states().map(({ blocks }) => blocks[0]?.block_id);
    expect(shown).toEqual([...new Set(shown)]);
    expect(notices(sandbox, 'could not be updated')).toEqual([]);

    // The buttons of the newest reply count; those of the card are older.
    await sandbox.press(CLEO, card, 'change.approve');
    await sandbox.privateMessage(CLEO, 'This message shows an older state.');
    expect(notices(sandbox, 'did not count')).toEqual([]);
    const newest = states().at(-1);
    await sandbox.pressWithReason(BEN, newest, 'change.happened', 'seen in the console');
    await expect.poll(() => states().map(textOf).at(-1)).toContain('it was stopped');
    await sandbox.restart();
    await waitUntilIdle(sandbox);
    const after = states().map(({ blocks }) => blocks[0]?.block_id);
    expect(after).toEqual([...new Set(after)]);
  },
);

test('the newest reply alone has buttons where Slack lets the older one be edited, and is named by its link', async () => {
  const sandbox = await startTestSandbox();
  const { slack, clock } = sandbox;
  const pass = (minutes: number) => {
    clock.now = new Date(clock.now.getTime() + minutes * 60_000);
  };
  slack.admin.limitEditing(5);
  const card = await requestChange(sandbox, ANA, '/service stop analytics-prod for the night');
  const { channel = '', ts = '' } = card ?? {};
  const replies = () =>
    slack
      .messages(channel)
      .filter(
        (each) => each.threadTs === ts && textOf(each).includes('not let the card be edited'),
      );
  const buttons = () => replies().map((each) => buttonsOf(each).includes('change.approve'));
  pass(6);
  await sandbox.press(BEN, card, 'change.approve');
  await expect.poll(buttons).toEqual([true]);
  pass(2);
  await sandbox.press(CLEO, replies()[0], 'change.approve');
  await expect.poll(() => replies().length).toBeGreaterThan(1);
  await waitUntilIdle(sandbox);
  expect(buttons().filter(Boolean)).toEqual([]);
  expect(replies()[0]?.blocks[0]?.block_id).toMatch(/^s1\./);
  await sandbox.press(BEN, card, 'change.reject');
  const told = await sandbox.privateMessage(BEN, 'This message shows an older state.');
  expect(JSON.stringify(told?.blocks)).toContain(`/p${replies().at(-1)?.ts.replace('.', '')}`);
});

test('a copy that Slack does not let be edited has its newest buttons in its thread', async () => {
  const sandbox = await startTestSandbox({ yaml: (file) => ({ ...file, notify: 'dm' }) });
  const { slack } = sandbox;
  slack.admin.kick('db-approvals', CLEO);
  const card = await requestChange(sandbox, ANA, '/service stop analytics-prod for the night');
  const copy = await sandbox.privateMessage(CLEO, 'requests: stop analytics-prod');
  const { channel = '', ts = '' } = copy ?? {};
  const how = { error: 'edit_window_closed' };
  slack.failNext({ method: 'chat.update', channel, times: 10_000, how });
  await sandbox.press(BEN, card, 'change.approve');
  const replies = () => slack.messages(channel).filter(({ threadTs }) => threadTs === ts);
  await expect.poll(replies).toHaveLength(1);
  await sandbox.press(CLEO, replies()[0], 'change.approve');
  await sandbox.card('analytics-prod is stopping');
  expect(sandbox.cloud.effects()).toHaveLength(1);
  expect(notices(sandbox, 'did not count')).toEqual([]);
});

test('in a channel that becomes shared, cards show no costs and reasons, and operators read it once', async () => {
  const sandbox = await startTestSandbox();
  const { slack, clock } = sandbox;
  const before = await requestChange(sandbox);
  expect(textOf(before)).toContain('for the night');
  slack.admin.share('db-approvals');
  clock.now = new Date(clock.now.getTime() + 61_000);
  await sandbox.press(BEN, before, 'change.approve');
  await sandbox.card('staging is stopping');
  await slack.command(ANA, 'ops', '/service stop reporting-core because of the merger');
  await sandbox.press(ANA, await sandbox.privateMessage(ANA, 'reporting-core?'), 'change.confirm');
  const after = await sandbox.card('requests: stop reporting-core');
  await waitUntilIdle(sandbox);
  const shown = slack.messages('db-approvals').map(textOf).join();
  expect(shown).not.toMatch(/for the night|because of the merger|credits per day/);
  expect(notices(sandbox, 'is shared with another organization')).toHaveLength(1);
  // The approvers read everything in private.
  await sandbox.press(BEN, after, 'change.details');
  await sandbox.privateMessage(BEN, 'because of the merger');
});
