import { expect, test } from 'vitest';
import { ENGINES, freshUrl } from '../storage/engines.ts';
import { ANALYTICS, ask, STAGING } from './request.ts';
import { ANA, BEN, CLEO, FINN, GUS, openStage, textOf } from './stage.ts';

test.for(ENGINES)('a hundred presses by three approvers send one request (%s)', async (engine) => {
  const stage = await openStage({ databaseUrl: await freshUrl(engine) });
  await stage.slack.command(ANA, 'ops', '/service stop analytics-prod nightly maintenance');
  await stage.press(ANA, await stage.privateWord(ANA, 'Stop analytics-prod?'), 'change.confirm');
  const card = await stage.card('waiting for approval');

  const approvers = [BEN, CLEO, GUS];
  const presses = Array.from({ length: 100 }, (_, index) =>
    stage.press(approvers[index % 3] ?? BEN, card, 'change.approve'),
  );
  await Promise.all(presses);
  const ended = await stage.card('Stop analytics-prod: accepted');
  expect(textOf(ended ?? { text: '', blocks: [] })).toContain('(2 of 2)');
  expect(stage.cloud.count('set state')).toBe(1);
  expect(stage.cloud.effectCount('set state', ANALYTICS)).toBe(1);
});

test('of a simultaneous approval and rejection, one takes effect', async () => {
  const stage = await openStage();
  const card = await ask(stage);
  await stage.press(BEN, card, 'change.reject');
  const view = await stage.modal(BEN, 'change.reject');
  await Promise.all([
    stage.press(CLEO, card, 'change.approve'),
    stage.slack.submit(BEN, view, {
      reason: { reason: { type: 'plain_text_input', value: 'No' } },
    }),
  ]);
  await expect
    .poll(() => stage.slack.messages('db-approvals').map(textOf).join())
    .toMatch(/Stop staging: (rejected|accepted)/);
  const rejected = stage.slack.messages('db-approvals').some((m) => m.text.includes('rejected'));
  expect(stage.cloud.effectCount('set state', STAGING)).toBe(rejected ? 0 : 1);
});

test('of two changes of one service approved at the same time, one is sent', async () => {
  const stage = await openStage();
  const stop = await ask(stage, ANA, '/service stop staging for the night');
  const start = await ask(stage, FINN, '/service start staging after all');
  await Promise.all([
    stage.press(BEN, stop, 'change.approve'),
    stage.press(CLEO, start, 'change.approve'),
  ]);
  await stage.card('accepted');
  // The other one waits until the first has ended, and is then checked again.
  stage.clock.now = new Date(stage.clock.now.getTime() + 15_000);
  stage.wake();
  await stage.card('not run: it changed since the preview');
  expect(stage.cloud.count('set state')).toBe(1);
});
