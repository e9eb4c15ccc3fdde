import { expect, test } from 'vitest';
import { ask, empty, STAGING } from './request.ts';
import {
  ANA,
  BEN,
  buttonsOf,
  CLEO,
  DORA,
  EMIL,
  FINN,
  GINA,
  openStage,
  type Stage,
  textOf,
} from './stage.ts';

test('a stopped service is started with the button of its final card', async () => {
  const stage = await openStage();
  await stage.press(BEN, await ask(stage), 'change.approve');
  const ended = await stage.card('Stop staging: accepted');
  stage.clock.now = new Date(stage.clock.now.getTime() + 600_000);

  await stage.press(ANA, ended, 'change.undo');
  const preview = await stage.privateWord(ANA, 'Start staging?');
  await stage.press(ANA, preview, 'change.confirm');
  await stage.press(BEN, await stage.card('Start staging: waiting'), 'change.approve');
  await stage.card('Start staging: accepted');
  expect(stage.cloud.effectCount('set state', STAGING)).toBe(2);
});

test('only an approver can decide, and other users read who can', async () => {
  const stage = await openStage();
  const card = await ask(stage);
  await stage.press(ANA, card, 'change.approve');
  await stage.privateWord(ANA, 'You requested this change');
  for (const someone of [DORA, EMIL, FINN]) {
    await stage.press(someone, card, 'change.approve');
    await stage.privateWord(someone, 'Only @db-leads can decide this');
  }
  await stage.press(GINA, card, 'change.approve');
  await stage.privateWord(GINA, 'Guests cannot');
  expect(textOf((await stage.card('waiting for approval')) ?? empty)).toContain('0 of 1');
  expect(stage.cloud.count('set state')).toBe(0);
});

test('a user without the role cannot request a change and reads which rule applies and who may', async () => {
  const stage = await openStage();
  await stage.slack.command(DORA, 'ops', '/service stop staging because');
  const refused = await stage.privateWord(DORA, 'You can’t use /service stop on staging');
  expect(textOf(refused ?? empty)).toContain('rule 4 allows @db-operators');
  expect(textOf(refused ?? empty)).toContain(`<@${ANA}>`);
  await stage.slack.command(EMIL, 'ops', '/service list');
  await stage.privateWord(EMIL, 'You can’t use /service list');
});

test('a rejection shows its reason on the card and in its thread', async () => {
  const stage = await openStage();
  await stage.press(BEN, await ask(stage), 'change.reject');
  const form = await stage.modal(BEN, 'change.reject');
  const because = (value: string) => ({ reason: { reason: { type: 'plain_text_input', value } } });
  await stage.slack.submit(BEN, form, because('   '));
  const still = stage.slack.clientState(BEN).views.find(({ id }) => id === form);
  expect(still?.errors.reason).toContain('Add a few words');
  await stage.slack.submit(BEN, form, because('Not during the sale'));
  const card = await stage.card('Stop staging: rejected');
  expect(textOf(card ?? empty)).toContain('Not during the sale');
  expect(buttonsOf(card ?? empty)).toEqual([]);
  await expect
    .poll(() => stage.slack.messages('db-approvals').map(textOf).join())
    .toContain('rejected “stop staging”: Not during the sale');
});

test('only the requester can cancel a change', async () => {
  const stage = await openStage();
  const card = await ask(stage);
  await stage.press(BEN, card, 'change.cancel');
  await stage.privateWord(BEN, 'Only <@U0ANA00001> can do that');
  await stage.press(ANA, card, 'change.cancel');
  await stage.card('Stop staging: cancelled');
  // A client may still show old buttons: Ben presses a button that the card no longer has.
  const late = await pressGone(stage, BEN, card);
  expect(late.error).toBeNull();
  await stage.privateWord(BEN, 'Too late. It is cancelled');
  expect(stage.cloud.count('set state')).toBe(0);
});

/** Presses a button that the message no longer has. */
async function pressGone(
  stage: Stage,
  as: string,
  card: { channel: string; ts: string } | undefined,
) {
  if (!card) throw new Error('There is no such card');
  const shown = stage.slack.messages('db-approvals').find(({ ts }) => ts === card.ts);
  const id = /Stop staging: cancelled[\s\S]*?· ([0-9A-Z]{6})/.exec(shown ? textOf(shown) : '')?.[1];
  const place = { in: 'message', channel: card.channel, ts: card.ts } as const;
  const element = { type: 'button', action_id: 'change.approve', value: id };
  return stage.slack.press({ as, place, blockId: 'card:2', actionId: 'change.approve', element });
}

test('a request without a decision expires, and its requester is notified', async () => {
  const stage = await openStage();
  await ask(stage);
  stage.clock.now = new Date(stage.clock.now.getTime() + 24 * 3_600_000);
  stage.wake();
  await stage.card('Stop staging: expired');
  await expect
    .poll(() => stage.slack.messages('db-approvals').map(textOf).join())
    .toContain('“stop staging” expired before it was decided');
});

test('a draft cannot be confirmed after 30 minutes', async () => {
  const stage = await openStage();
  await stage.slack.command(ANA, 'ops', '/service stop staging for the night');
  const preview = await stage.privateWord(ANA, 'Stop staging?');
  stage.clock.now = new Date(stage.clock.now.getTime() + 31 * 60_000);
  await stage.press(ANA, preview, 'change.confirm');
  await stage.privateWord(ANA, 'Request it again.');
  expect(stage.slack.messages('db-approvals')).toHaveLength(0);
});

test('a rejection by the server is shown verbatim and releases the target', async () => {
  const stage = await openStage();
  stage.cloud.setKey('sandbox-key-id', { role: 'developer' });
  await stage.press(BEN, await ask(stage), 'change.approve');
  const failed = await stage.card('Stop staging: rejected by the server');
  expect(textOf(failed ?? empty)).toContain('403 FORBIDDEN');

  stage.cloud.setKey('sandbox-key-id', { role: 'admin' });
  await stage.press(CLEO, await ask(stage), 'change.approve');
  await stage.card('Stop staging: accepted');
});

test('a request without an answer has an unknown outcome, is not sent again, and locks its target', async () => {
  const stage = await openStage();
  stage.cloud.injectFault({ operation: 'set state', fault: 'close-after-effect', times: 1 });
  await stage.press(BEN, await ask(stage), 'change.approve');
  const unknown = await stage.card('outcome unknown');
  expect(buttonsOf(unknown ?? empty)).toEqual(['change.happened', 'change.did-not-happen']);
  expect(stage.cloud.effectCount('set state', STAGING)).toBe(1);

  // Another approved change of the same service waits until the outcome is recorded.
  const second = await ask(stage, FINN, '/service start staging once more');
  await stage.press(BEN, second, 'change.approve');
  await stage.card('Start staging: approved');
  stage.wake();
  expect(stage.cloud.count('set state')).toBe(1);

  await stage.press(BEN, unknown, 'change.happened');
  await stage.slack.submit(BEN, await stage.modal(BEN, 'change.happened'), {
    reason: { reason: { type: 'plain_text_input', value: 'The console says stopped' } },
  });
  await stage.card('Stop staging: it happened');
  // The second change was requested before the outcome was known, so it becomes stale.
  await stage.card('Start staging: not run: it changed since the preview');
  expect(stage.cloud.count('set state')).toBe(1);
});

test('a rate-limited request is sent later, after all checks are repeated', async () => {
  const stage = await openStage();
  stage.cloud.injectFault({ operation: 'set state', fault: '429-retry-after', times: 1 });
  await stage.press(BEN, await ask(stage), 'change.approve');
  await stage.card('The server requested a pause, so nothing was sent');
  expect(stage.cloud.effectCount('set state', STAGING)).toBe(0);

  stage.clock.now = new Date(stage.clock.now.getTime() + 120_000);
  stage.wake();
  await stage.card('Stop staging: accepted');
  expect(stage.cloud.effectCount('set state', STAGING)).toBe(1);
});
