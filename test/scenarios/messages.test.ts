import { expect, test } from 'vitest';
import { freshUrl } from '../storage/engines.ts';
import { ask, STAGING } from './request.ts';
import { ANA, BEN, openStage, type Stage, textOf } from './stage.ts';

const MINUTE_MS = 60_000;

function pass(stage: Stage, minutes: number) {
  stage.clock.now = new Date(stage.clock.now.getTime() + minutes * MINUTE_MS);
  stage.wake();
}

function thread({ slack }: Stage): string[] {
  const all = slack.messages('db-approvals').filter(({ threadTs }) => threadTs !== null);
  return all.map(textOf);
}

const directs = ({ slack }: Stage, to: string) =>
  slack
    .clientState(to)
    .messages.filter(({ channel, ephemeral }) => channel[0] === 'D' && !ephemeral);

const escalating = (file: Record<string, never>) => {
  const read = structuredClone(file) as unknown as {
    roles: object;
    policy: { allow: string[]; on?: object; approvals?: object }[];
  };
  const approvals = { from: 'approver', count: 1, escalate: { to: 'chief', after: '1h' } };
  const rule = { allow: ['service stop'], to: 'operator', approvals, expires: '4h' };
  return {
    ...read,
    roles: { ...read.roles, chief: { users: ['U0DORA0001'] } },
    policy: [rule, ...read.policy],
  };
};

test('approvers are reminded at growing intervals until the change expires', async () => {
  const stage = await openStage({ yaml: escalating });
  await ask(stage);
  pass(stage, 15);
  await expect.poll(() => thread(stage)).toHaveLength(1);
  expect(thread(stage)[0]).toContain('still needs one more approval');
  expect(thread(stage)[0]).toContain('S0DBLEADS01');
  pass(stage, 44);
  await stage.card('waiting for approval');
  expect(thread(stage)).toHaveLength(1);
  pass(stage, 1);
  await expect.poll(() => thread(stage)).toHaveLength(3);

  pass(stage, 200);
  await stage.card('Stop staging: expired');
  await expect.poll(() => thread(stage).join('\n')).toContain('expired before it was decided');
});

test('the escalation role is notified and may approve from then on', async () => {
  const stage = await openStage({ yaml: escalating });
  const card = await ask(stage);
  expect(textOf(card ?? { text: '', blocks: [] })).toContain('to the role chief ');
  await stage.press('U0DORA0001', card, 'change.approve');
  await stage.privateWord('U0DORA0001', 'can decide this');
  pass(stage, 60);
  await expect.poll(() => thread(stage).join('\n')).toContain('you can now approve it too');
  expect(thread(stage).join('\n')).toContain('U0DORA0001');
  await stage.press('U0DORA0001', card, 'change.approve');
  await stage.card('Stop staging: accepted');
  expect(stage.cloud.effectCount('set state', STAGING)).toBe(1);
});

test('no reminder is sent for a decided change', async () => {
  const stage = await openStage();
  await stage.press(BEN, await ask(stage), 'change.approve');
  await stage.card('Stop staging: accepted');
  await expect.poll(() => thread(stage)).toHaveLength(1);
  pass(stage, 30);
  pass(stage, 120);
  await stage.slack.command(ANA, 'ops', '/service list');
  await stage.privateWord(ANA, 'analytics-prod');
  expect(thread(stage)).toHaveLength(1);
});

test('an unknown outcome is reported repeatedly until it is resolved', async () => {
  const stage = await openStage();
  stage.cloud.injectFault({ operation: 'set state', fault: '500', times: 9 });
  await stage.press(BEN, await ask(stage), 'change.approve');
  await stage.card('outcome unknown');
  await expect.poll(() => thread(stage)).toHaveLength(1);
  pass(stage, 15);
  await expect.poll(() => thread(stage)).toHaveLength(2);
  expect(thread(stage)[1]).toContain('the outcome of “');
  pass(stage, 60);
  await expect.poll(() => thread(stage)).toHaveLength(3);
});

test('a card is posted once when Slack accepts the post without an answer', async () => {
  const stage = await openStage({ databaseUrl: await freshUrl('sqlite') });
  stage.slack.failNext({ method: 'chat.postMessage', times: 1, how: 'reply-lost' });
  await stage.slack.command(ANA, 'ops', '/service stop staging for the night');
  await stage.press(ANA, await stage.privateWord(ANA, 'staging?'), 'change.confirm');
  const card = await stage.card('waiting for approval');
  await expect
    .poll(() => {
      pass(stage, 0.1);
      return stage.slack.calls('conversations.history').length;
    })
    .toBeGreaterThan(0);
  await stage.press(BEN, card, 'change.approve');
  const cards = () => stage.slack.messages('db-approvals').filter((each) => !each.threadTs);
  await expect
    .poll(() => {
      pass(stage, 0.1);
      return cards()
        .map(({ text }) => text)
        .join();
    })
    .toContain('Stop staging: accepted');
  expect(cards()).toHaveLength(1);
});

test('a thread message is posted once when Slack accepts the post without an answer', async () => {
  const stage = await openStage();
  const card = await ask(stage);
  stage.slack.failNext({ method: 'chat.postMessage', times: 1, how: 'reply-lost' });
  await stage.press(BEN, card, 'change.approve');
  await stage.card('Stop staging: accepted');
  await expect
    .poll(() => {
      pass(stage, 0.1);
      return stage.slack.calls('conversations.replies').length;
    })
    .toBeGreaterThan(0);
  expect(thread(stage).filter((text) => text.includes('accepted by the server'))).toHaveLength(1);
});

test('a message in the audit channel is posted once when Slack accepts the post without an answer', async () => {
  const stage = await openStage();
  const card = await ask(stage);
  const endings = () =>
    stage.slack.messages('db-audit').filter(({ text }) => text.includes('Stop staging'));
  // The thread message is posted before it.
  stage.slack.failNext({ method: 'chat.postMessage', times: 3, how: 'reply-lost' });
  await stage.press(BEN, card, 'change.approve');
  await stage.card('Stop staging: accepted');
  await expect
    .poll(() => {
      pass(stage, 0.1);
      return stage.slack.calls('conversations.history').length;
    })
    .toBeGreaterThan(0);
  await expect
    .poll(() => {
      pass(stage, 0.1);
      return endings().length;
    })
    .toBe(1);
  expect(thread(stage).filter((text) => text.includes('accepted by the server'))).toHaveLength(1);
});

test('a requester outside the approvals channel is notified in a direct message', async () => {
  const { sandboxWorkspace } = await import('../../sandbox/slack/sandbox-workspace.ts');
  const workspace = structuredClone(sandboxWorkspace);
  for (const room of workspace.channels) {
    if (room.name !== 'db-approvals') continue;
    room.members.splice(room.members.indexOf(ANA), 1);
  }
  const stage = await openStage({ workspace });
  await stage.press(BEN, await ask(stage), 'change.approve');
  await stage.card('Stop staging: accepted');
  await expect.poll(() => directs(stage, ANA).map(textOf).join()).toContain('was accepted');
});

test('a requester inside the approvals channel gets no direct message', async () => {
  const stage = await openStage();
  await stage.press(BEN, await ask(stage), 'change.approve');
  await stage.card('Stop staging: accepted');
  await expect.poll(() => stage.slack.calls('conversations.members').length).toBeGreaterThan(0);
  expect(directs(stage, ANA)).toEqual([]);
});

const STOP = '/service stop staging for the night';

test('a repeated request within an hour shows the earlier one', async () => {
  const stage = await openStage();
  await stage.press(BEN, await ask(stage), 'change.approve');
  await stage.card('Stop staging: accepted');
  pass(stage, 59);
  await stage.slack.command(ANA, 'ops', STOP);
  const shown = await stage.privateWord(ANA, 'This would be a second one');
  const text = textOf(shown ?? { text: '', blocks: [] });
  expect(text).toContain(': accepted. This would be a second one.');
  expect(text.indexOf('requested the same change')).toBeLessThan(text.indexOf('PATCH state'));
});

test('a request after an hour, or after another change, does not count as repeated', async () => {
  const stage = await openStage();
  await stage.press(BEN, await ask(stage), 'change.approve');
  await stage.card('Stop staging: accepted');
  pass(stage, 10);
  const start = await ask(stage, ANA, '/service start staging the day begins');
  await stage.press(BEN, start, 'change.approve');
  await stage.card('Start staging: accepted');
  await stage.slack.command(ANA, 'ops', STOP);
  const after = await stage.privateWord(ANA, 'Stop staging?');
  pass(stage, 61);
  await stage.slack.command(ANA, 'ops', '/service start staging again');
  const late = await stage.privateWord(ANA, 'Start staging?');
  for (const shown of [after, late]) {
    expect(textOf(shown ?? { text: '', blocks: [] })).not.toContain('requested the same change');
  }
});
