import { expect, test } from 'vitest';
import { ENGINES, freshUrl } from '../storage/engines.ts';
import { ask } from './request.ts';
import { ANA, BEN, CLEO, openStage, type Stage, textOf } from './stage.ts';

const TOO_MANY = 'You sent too many requests in a short time';

function answersWith(stage: Stage, as: string, words: string): number {
  return stage.slack.clientState(as).messages.filter((each) => textOf(each).includes(words)).length;
}

test.for(ENGINES)(
  'a user who presses without end is notified once, also by two replicas (%s)',
  async (engine) => {
    const databaseUrl = await freshUrl(engine);
    const stage = await openStage({ databaseUrl });
    const card = await ask(stage);
    // Cleo may not cancel Ana's change, so each press gets a separate refusal.
    const presses = () =>
      Promise.all(Array.from({ length: 20 }, () => stage.press(CLEO, card, 'change.cancel')));
    await presses();
    if (engine === 'postgres') {
      const { port } = await stage.replica();
      stage.slack.deliverTo(`http://127.0.0.1:${port}/slack/events`);
    }
    await presses();
    await expect.poll(() => answersWith(stage, CLEO, 'can do that')).toBe(30);
    await stage.privateWord(CLEO, TOO_MANY);

    stage.clock.now = new Date(stage.clock.now.getTime() + 60_000);
    await stage.press(CLEO, card, 'change.cancel');
    await expect.poll(() => answersWith(stage, CLEO, 'can do that')).toBe(31);
    expect(answersWith(stage, CLEO, TOO_MANY)).toBe(1);
    // Other users are not affected.
    await stage.press(BEN, card, 'change.approve');
    await stage.card('Stop staging: accepted');
  },
);

test('the 21st draft within ten minutes is refused with an explanation', async () => {
  const stage = await openStage();
  for (let n = 0; n < 20; n += 1) {
    await stage.slack.command(ANA, 'ops', `/service stop staging for the night ${n}`);
    await stage.privateWord(ANA, `for the night ${n}`);
  }
  await stage.slack.command(ANA, 'ops', '/service stop staging for good');
  await stage.privateWord(ANA, TOO_MANY);
  stage.clock.now = new Date(stage.clock.now.getTime() + 600_000);
  await stage.slack.command(ANA, 'ops', '/service stop staging for good');
  await stage.privateWord(ANA, 'for good');
});

test('the 61st command within a minute gets one refusal', async () => {
  const stage = await openStage();
  for (let n = 0; n < 70; n += 1) await stage.slack.command(ANA, 'ops', '/service help');
  await expect.poll(() => answersWith(stage, ANA, TOO_MANY)).toBe(1);
  await stage.slack.command(BEN, 'ops', '/service list');
  await stage.privateWord(BEN, 'analytics-prod');
});
