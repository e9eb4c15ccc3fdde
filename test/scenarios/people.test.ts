import { expect, test } from 'vitest';
import { textOf } from '../harness/messages.ts';
import { requestChange } from '../harness/requests.ts';
import { startTestSandbox } from '../harness/test-sandbox.ts';
import { ANA, BEN, DORA, FINN } from '../harness/users.ts';

test('a user who leaves a group loses its rights at once', async () => {
  const sandbox = await startTestSandbox();
  await sandbox.ask(DORA, '/service list', '12 services');
  await sandbox.slack.admin.setGroup('engineering', [ANA, BEN, FINN]);
  await sandbox.ask(DORA, '/service list', "You can't use /service list");
});

test('a group deleted at run time counts as empty, and other groups are not affected', async () => {
  const sandbox = await startTestSandbox();
  const card = await requestChange(sandbox);
  await sandbox.slack.admin.disableGroup('db-leads');
  await sandbox.press(BEN, card, 'change.approve');
  await sandbox.privateMessage(BEN, 'Only ');
  expect(textOf(await sandbox.card('requests: '))).toContain('0 of 1');
  await sandbox.ask(DORA, '/service list', '12 services');
  await sandbox.ask(ANA, '/service start staging', 'Start staging?');
});

test('group members are read once for several users within a minute', async () => {
  const sandbox = await startTestSandbox();
  const before = sandbox.slack.calls('usergroups.list').length;
  for (const person of [ANA, BEN, DORA, FINN]) {
    await sandbox.ask(person, '/service list', '12 services');
  }
  expect(sandbox.slack.calls('usergroups.list')).toHaveLength(before);
});

test('a button of an older version gets a private explanation', async () => {
  const sandbox = await startTestSandbox();
  const card = (await requestChange(sandbox)) ?? { channel: '', ts: '' };
  const place = { in: 'message', channel: card.channel, ts: card.ts } as const;
  const element = { type: 'button', action_id: 'change.frobnicate', value: 'ABCDEF' };
  await sandbox.slack.press({
    as: BEN,
    place,
    blockId: 'card:2',
    actionId: 'change.frobnicate',
    element,
  });
  await sandbox.privateMessage(BEN, 'This button is from an older version');
  expect(textOf(await sandbox.card('requests: '))).toContain('0 of 1');
});

test('an internal error shows a reference and no details', async () => {
  const sandbox = await startTestSandbox();
  sandbox.slack.failNext({ method: 'views.open', times: 1, how: { error: 'view_too_large' } });
  await sandbox.slack.command(ANA, 'ops', '/service stop');
  const answer = textOf(await sandbox.privateMessage(ANA, 'had an internal error'));
  expect(answer).toMatch(/ref [0-9a-f]{8}/);
  expect(answer).not.toContain('view_too_large');
});
