import { expect, test } from 'vitest';
import { buttonsOf, placeOf, textOf } from '../harness/messages.ts';
import { REFUSED } from '../harness/refused.ts';
import { cardAfterRetries, changeIdOf, requestChange, STAGING } from '../harness/requests.ts';
import { startTestSandbox, type TestSandbox } from '../harness/test-sandbox.ts';
import { ANA, BEN, DORA, EMIL, FINN, GINA } from '../harness/users.ts';

const because = (value: string) => ({ reason: { reason: { type: 'plain_text_input', value } } });

test('only an approver can decide, and other users read who can', async () => {
  const sandbox = await startTestSandbox();
  const card = await requestChange(sandbox);
  await sandbox.press(ANA, card, 'change.approve');
  await sandbox.privateMessage(ANA, 'You requested this change');
  for (const someone of [DORA, EMIL, FINN]) {
    await sandbox.press(someone, card, 'change.approve');
    await sandbox.privateMessage(someone, REFUSED.notAnApproverOf('@db-leads'));
  }
  await sandbox.press(GINA, card, 'change.approve');
  await sandbox.privateMessage(GINA, 'Guests cannot');
  expect(textOf(await sandbox.card('requests: '))).toContain('0 of 1');
  expect(sandbox.cloud.count('set state')).toBe(0);
});

test('a user without the role cannot request a change and reads which rule applies and who may', async () => {
  const sandbox = await startTestSandbox();
  const line = '/service stop staging because';
  const refused = await sandbox.answer(DORA, line, "You can't stop staging");
  expect(refused).toContain('only @db-operators may');
  expect(refused).toContain(`<@${ANA}>`);
  await sandbox.ask(EMIL, '/service list', "You can't use /service list");
});

test('a rejection shows its reason on the card and in its thread', async () => {
  const sandbox = await startTestSandbox();
  await sandbox.press(BEN, await requestChange(sandbox), 'change.reject');
  const form = await sandbox.modal(BEN, 'change.reject');
  await sandbox.slack.submit(BEN, form, because('   '));
  const still = sandbox.slack.clientState(BEN).views.find(({ id }) => id === form);
  expect(still?.errors.reason).toContain('Add a few words');
  await sandbox.slack.submit(BEN, form, because('Not during the sale'));
  const card = await sandbox.card('Stop staging: rejected');
  expect(textOf(card)).toContain('Not during the sale');
  expect(buttonsOf(card)).toEqual(['change.request-again', 'change.details']);
  await expect
    .poll(() => sandbox.slack.messages('db-approvals').map(textOf).join())
    .toContain('rejected “stop staging”: Not during the sale');

  await sandbox.press(FINN, card, 'change.request-again');
  const again = await sandbox.privateMessage(FINN, 'Stop staging?');
  expect(again?.text).toContain('for the night');

  // A draft of another user stays private, also for a click that names it.
  await sandbox.press(FINN, again, 'change.cancel');
  const draft = await sandbox.privateMessage(FINN, 'Stop staging: cancelled');
  await sandbox.slack.press({
    as: ANA,
    place: placeOf(card),
    blockId: 'card:3',
    actionId: 'change.request-again',
    element: { type: 'button', value: changeIdOf(draft) },
  });
  await sandbox.privateMessage(ANA, 'This change no longer exists');
});

test('only the requester can cancel a change', async () => {
  const sandbox = await startTestSandbox();
  const card = await requestChange(sandbox);
  await sandbox.press(BEN, card, 'change.cancel');
  await sandbox.privateMessage(BEN, REFUSED.notRequester('U0ANA00001'));
  await sandbox.press(ANA, card, 'change.cancel');
  await sandbox.card('Stop staging: cancelled');
  // A client may still show old buttons: Ben presses a button that the card no longer has.
  const late = await sandbox.slack.press({
    ...{ as: BEN, place: placeOf(card), blockId: 'card:2', actionId: 'change.approve' },
    element: { type: 'button', value: changeIdOf(card) },
  });
  expect(late.error).toBeNull();
  await sandbox.privateMessage(BEN, 'Already cancelled');
  expect(sandbox.cloud.count('set state')).toBe(0);
});

test('a request without a decision expires, and its requester is notified', async () => {
  const sandbox = await startTestSandbox();
  await requestChange(sandbox);
  sandbox.pass(24 * 3_600_000);
  await sandbox.card('Stop staging: expired');
  await expect
    .poll(() => sandbox.slack.messages('db-approvals').map(textOf).join())
    .toContain('“stop staging” expired before it was decided');
});

/** Ben records that an unknown outcome happened. */
async function recordHappened(sandbox: TestSandbox, unknown: Parameters<typeof placeOf>[0]) {
  await sandbox.pressWithReason(BEN, unknown, 'change.happened', 'The console says stopped');
  await sandbox.card('Stop staging: it was stopped');
}

test('a request without an answer has an unknown outcome, is not sent again, and locks its target', async () => {
  const sandbox = await startTestSandbox();
  sandbox.cloud.injectFault({ operation: 'set state', fault: 'close-after-effect', times: 1 });
  await sandbox.press(BEN, await requestChange(sandbox), 'change.approve');
  const unknown = await sandbox.card('outcome unknown');
  expect(buttonsOf(unknown)).toEqual([
    'change.happened',
    'change.did-not-happen',
    'change.details',
  ]);
  expect(sandbox.cloud.effectCount('set state', STAGING)).toBe(1);

  const homeOf = (as: string) => JSON.stringify(sandbox.slack.clientState(as).home ?? []);
  for (const [as, words] of [
    [BEN, '"change.happened"'],
    [FINN, '@db-leads can record it'],
  ] as const) {
    await sandbox.slack.openHome({ as });
    await expect.poll(() => homeOf(as)).toContain('Needs your answer (1)');
    expect(homeOf(as)).toContain(words);
  }
  expect(homeOf(FINN)).not.toContain('change.happened');
  const blocks = 'Other changes of this service are blocked';
  const blocked = await sandbox.ask(BEN, '/service show staging', blocks);
  expect(buttonsOf(blocked)).toContain('change.did-not-happen');

  // Another approved change of the same service waits until the outcome is recorded.
  const second = await requestChange(sandbox, FINN, '/service start staging once more');
  await sandbox.press(BEN, second, 'change.approve');
  await sandbox.card('Start staging: approved');
  sandbox.wake();
  expect(sandbox.cloud.count('set state')).toBe(1);

  await recordHappened(sandbox, unknown);
  // The second change was requested before the outcome was known, so it becomes stale at its next attempt.
  sandbox.pass(10_000);
  await sandbox.card('Start staging: not run: the target changed since the preview');
  expect(sandbox.cloud.count('set state')).toBe(1);
});

test('after its role was renamed, a current approver resolves an unknown outcome, the requester does not', async () => {
  const sandbox = await startTestSandbox();
  sandbox.cloud.injectFault({ operation: 'set state', fault: 'close-after-effect', times: 1 });
  await sandbox.press(BEN, await requestChange(sandbox), 'change.approve');
  const unknown = await sandbox.card('outcome unknown');
  const renamed = (file: object) =>
    JSON.parse(
      JSON.stringify(file)
        .replaceAll('"approver"', '"lead"')
        .replaceAll('{"groups":["@db-leads"]}', '{"groups":["@db-leads"],"users":["U0ANA00001"]}'),
    );
  expect(await sandbox.reload(renamed)).toEqual({ ok: true });
  await sandbox.press(ANA, unknown, 'change.happened');
  await sandbox.privateMessage(ANA, 'Only @db-leads');
  await recordHappened(sandbox, unknown);
});

test('a rate-limited request is sent later, after all checks are repeated', async () => {
  const sandbox = await startTestSandbox();
  sandbox.cloud.injectFault({ operation: 'set state', fault: '429-retry-after', times: 4 });
  const card = await requestChange(sandbox);
  const reason = 'The rate limit of the server is reached.';
  await sandbox.press(BEN, card, 'change.approve');
  await sandbox.card('Nothing was sent yet. Next attempt: ');
  expect(textOf(card)).toContain(`Not sent: ${reason}`);
  expect(sandbox.cloud.effectCount('set state', STAGING)).toBe(0);

  await cardAfterRetries(sandbox, 'staging is stopping');
  const notes = sandbox.slack.messages('db-approvals').map(({ text }) => text);
  // After a minute, when it may still last.
  const [told, ...others] = notes.filter((text) => text.includes('was not sent yet'));
  expect(told).toContain(`<@${ANA}> “stop staging” was not sent yet: ${reason}`);
  expect(others).toEqual([]);
  expect(notes.filter((text) => text.startsWith('Sending'))).toHaveLength(5);
  expect(sandbox.cloud.effectCount('set state', STAGING)).toBe(1);
});
