import { expect, test } from 'vitest';
import { ask, empty } from './request.ts';
import { ANA, BEN, DORA, FINN, NOON, openStage, textOf } from './stage.ts';

test('a user who leaves a group loses its rights at once', async () => {
  const stage = await openStage();
  await stage.slack.command(DORA, 'ops', '/service list');
  await stage.privateWord(DORA, '12 services');
  await stage.slack.admin.setGroup('engineering', [ANA, BEN, FINN]);
  await stage.slack.command(DORA, 'ops', '/service list');
  await stage.privateWord(DORA, 'You can’t use /service list');
});

test('a deactivated user loses all rights', async () => {
  const stage = await openStage();
  await stage.slack.command(FINN, 'ops', '/service list');
  await stage.privateWord(FINN, '12 services');
  await stage.slack.admin.deactivate(FINN);
  // The page accepts input from a deactivated account; the bot does not answer it.
  await stage.slack.command(FINN, 'ops', '/service list').catch(() => undefined);
  const answers = stage.slack.messages('ops').filter((message) => message.ephemeralFor === FINN);
  expect(answers.filter(({ text }) => text.includes('12 services'))).toHaveLength(1);
});

test('a group deleted at run time counts as empty, and other groups are not affected', async () => {
  const stage = await openStage();
  const card = await ask(stage);
  await stage.slack.admin.disableGroup('db-leads');
  await stage.press(BEN, card, 'change.approve');
  await stage.privateWord(BEN, 'Only ');
  expect(textOf((await stage.card('waiting for approval')) ?? empty)).toContain('0 of 1');
  await stage.slack.command(DORA, 'ops', '/service list');
  await stage.privateWord(DORA, '12 services');
  await stage.slack.command(ANA, 'ops', '/service start staging');
  await stage.privateWord(ANA, 'Start staging?');
});

test('a change approved by a group that is deleted before it runs does not run', async () => {
  const stage = await openStage();
  await stage.slack.command(ANA, 'ops', '/service stop staging in=2h for the night');
  await stage.press(ANA, await stage.privateWord(ANA, 'staging?'), 'change.confirm');
  await stage.press(BEN, await stage.card('waiting for approval'), 'change.approve');
  await stage.card('Stop staging: approved');
  await stage.slack.admin.disableGroup('db-leads');
  stage.clock.now = new Date(NOON.getTime() + 2 * 3_600_000);
  stage.wake();
  await stage.card('not run: the current policy refuses it');
  expect(stage.cloud.count('set state')).toBe(0);
});

test('group members are read once for several users within a minute', async () => {
  const stage = await openStage();
  const before = stage.slack.calls('usergroups.users.list').length;
  for (const person of [ANA, BEN, DORA, FINN]) {
    await stage.slack.command(person, 'ops', '/service list');
    await stage.privateWord(person, '12 services');
  }
  expect(stage.slack.calls('usergroups.users.list')).toHaveLength(before);
});

test('a button of an older version gets a private explanation', async () => {
  const stage = await openStage();
  const card = (await ask(stage)) ?? { channel: '', ts: '' };
  const place = { in: 'message', channel: card.channel, ts: card.ts } as const;
  const element = { type: 'button', action_id: 'change.frobnicate', value: 'ABCDEF' };
  await stage.slack.press({
    as: BEN,
    place,
    blockId: 'card:2',
    actionId: 'change.frobnicate',
    element,
  });
  await stage.privateWord(BEN, 'This button is from an older version');
  expect(textOf((await stage.card('waiting for approval')) ?? empty)).toContain('0 of 1');
});

test('an internal error shows a reference and no details', async () => {
  const stage = await openStage();
  stage.slack.failNext({ method: 'views.open', times: 1, how: { error: 'internal_error' } });
  await stage.slack.command(ANA, 'ops', '/service stop');
  const answer = textOf((await stage.privateWord(ANA, 'had an internal error')) ?? empty);
  expect(answer).toMatch(/ref [0-9a-f]{8}/);
  expect(answer).not.toContain('internal_error');
});
