import { expect, test } from 'vitest';
import { freshUrl } from '../storage/engines.ts';
import { ANALYTICS, empty } from './request.ts';
import {
  ANA,
  BEN,
  buttonsOf,
  CLEO,
  DORA,
  FINN,
  GUS,
  openStage,
  type Stage,
  textOf,
} from './stage.ts';

const REASON = 'The shop is down and nobody of the leads answers';
const because = (value: string) => ({ reason: { reason: { type: 'plain_text_input', value } } });

async function previewFor(stage: Stage, as: string) {
  await stage.slack.command(as, 'ops', '/service stop analytics-prod it writes rubbish');
  return (await stage.privateWord(as, 'Stop analytics-prod?')) ?? { ...empty, channel: '', ts: '' };
}

/** The card of a request that waits for two approvals. */
async function waitingCard(stage: Stage, as = ANA) {
  await stage.press(as, await previewFor(stage, as), 'change.confirm');
  return stage.card('Stop analytics-prod: waiting for approval');
}

async function useBreakGlass(stage: Stage, card: Awaited<ReturnType<typeof waitingCard>>) {
  await stage.press(ANA, card, 'change.break-glass');
  await stage.slack.submit(ANA, await stage.modal(ANA, 'change.break-glass'), because(REASON));
  return stage.card('Stop analytics-prod: accepted');
}

function textsIn(stage: Stage, channel: string) {
  return stage.slack.messages(channel).map(textOf).join('\n');
}

test('with break-glass a change runs without approvals, and everyone is notified', async () => {
  const stage = await openStage();
  const card = await waitingCard(stage);
  expect(buttonsOf(card ?? empty)).toContain('change.break-glass');
  const ended = await useBreakGlass(stage, card);
  expect(stage.cloud.effectCount('set state', ANALYTICS)).toBe(1);
  const text = textOf(ended ?? empty);
  expect(text).toContain('⚠ Break-glass by');
  expect(text).toContain(REASON);
  expect(text).toContain('nobody yet');

  await expect.poll(() => textsIn(stage, 'db-audit')).toContain('used break-glass');
  const line = stage.slack
    .messages('db-approvals')
    .find((message) => message.threadTs && textOf(message).includes('used break-glass'));
  // The blocks mention the groups. The fallback text would mention them a second time.
  expect(JSON.stringify(line?.blocks)).toContain('S0DBLEADS01');
  expect(textOf(line ?? empty)).toContain(REASON);
});

test('break-glass works from the preview, before the request is posted', async () => {
  const stage = await openStage();
  const preview = await previewFor(stage, ANA);
  expect(buttonsOf(preview)).toEqual([
    'change.confirm',
    'change.break-glass',
    'change.edit',
    'change.cancel',
  ]);
  await useBreakGlass(stage, preview as never);
  expect(stage.cloud.effectCount('set state', ANALYTICS)).toBe(1);
});

test('the preview loses its buttons after break-glass was used from it', async () => {
  const stage = await openStage();
  const preview = await previewFor(stage, ANA);
  await useBreakGlass(stage, preview as never);
  const seen = () => stage.slack.clientState(ANA).messages.filter(({ ephemeral }) => ephemeral);
  await expect.poll(() => seen().map(textOf).join()).toContain('The card shows the result');
  expect(seen().flatMap(buttonsOf)).toEqual([]);
});

test('a break-glass form that is submitted after the preview expired is refused in a direct message', async () => {
  const stage = await openStage();
  await stage.press(ANA, await previewFor(stage, ANA), 'change.break-glass');
  const form = await stage.modal(ANA, 'change.break-glass');
  stage.clock.now = new Date(stage.clock.now.getTime() + 31 * 60_000);
  await stage.slack.submit(ANA, form, because(REASON));
  const told = await stage.privateWord(ANA, 'The time to decide has passed');
  expect(told?.channel.startsWith('D')).toBe(true);
  expect(stage.cloud.count('set state')).toBe(0);
});

test('break-glass is not offered to a requester without the break-glass role', async () => {
  const stage = await openStage();
  expect(buttonsOf(await previewFor(stage, FINN))).not.toContain('change.break-glass');
});

test('only the requester can use break-glass for a change', async () => {
  const stage = await openStage();
  const card = await waitingCard(stage);
  for (const someone of [BEN, DORA, FINN]) {
    await stage.press(someone, card, 'change.break-glass');
    await stage.privateWord(someone, `Only <@${ANA}> can do that`);
  }
  expect(stage.cloud.count('set state')).toBe(0);
});

test('break-glass requires a reason', async () => {
  const stage = await openStage();
  const card = await waitingCard(stage);
  await stage.press(ANA, card, 'change.break-glass');
  const form = await stage.modal(ANA, 'change.break-glass');
  const shown = JSON.stringify(stage.slack.clientState(ANA).views.at(-1));
  expect(shown).toContain('without the approvals that its rule requires');
  await stage.slack.submit(ANA, form, because('  '));
  expect(stage.slack.clientState(ANA).views.at(-1)?.errors.reason).toContain('Add a few words');
  expect(stage.cloud.count('set state')).toBe(0);
});

test('a freeze also blocks break-glass', async () => {
  const frozen = (file: object) => ({
    ...file,
    freezes: [
      {
        from: '2026-11-20T12:10Z',
        until: '2026-11-21T00:00Z',
        on: { tags: ['prod'] },
        reason: 'sale',
      },
    ],
  });
  const stage = await openStage({ yaml: frozen });
  const card = await waitingCard(stage);
  stage.clock.now = new Date('2026-11-20T12:20:00Z');
  await stage.press(ANA, card, 'change.break-glass');
  await stage.slack.submit(ANA, await stage.modal(ANA, 'change.break-glass'), because(REASON));
  const ended = await stage.card('not run: the current policy refuses it');
  expect(textOf(ended ?? empty)).toContain('frozen');
  expect(stage.cloud.count('set state')).toBe(0);
});

const withoutBreakGlass = (file: object) =>
  JSON.parse(JSON.stringify(file).replaceAll(/,"breakGlass":\{[^}]*\}/g, ''));
const withOtherBreakGlassUser = (file: object) =>
  JSON.parse(JSON.stringify(file).replaceAll(`"users":["${ANA}"]`, `"users":["${FINN}"]`));

test.for([
  ['no longer has a break-glass rule', withoutBreakGlass, 'does not allow break-glass'],
  ['gives the break-glass role to another user', withOtherBreakGlassUser, 'break-glass only to'],
] as const)('a policy that %s stops the change before sending', async ([, yaml, words]) => {
  const stage = await openStage({ databaseUrl: await freshUrl('sqlite') });
  stage.cloud.injectFault({ operation: 'set state', fault: '429-retry-after', times: 1 });
  const card = await waitingCard(stage);
  await stage.press(ANA, card, 'change.break-glass');
  await stage.slack.submit(ANA, await stage.modal(ANA, 'change.break-glass'), because(REASON));
  const held = await stage.card('nothing was sent');
  expect(textOf(held ?? empty)).toContain('Stop analytics-prod: emergency, without approval');
  // The old process must stop before the clock advances, or it runs the change under the old policy.
  await stage.down();
  stage.clock.now = new Date(stage.clock.now.getTime() + 300_000);
  await stage.restart(yaml);
  const ended = await stage.card('not run: the current policy refuses it');
  expect(textOf(ended ?? empty)).toContain(words);
  expect(buttonsOf(ended ?? empty)).toEqual(['change.review']);
  expect(stage.cloud.effectCount('set state', ANALYTICS)).toBe(0);
});

test('another user reviews a break-glass change and records the result', async () => {
  const stage = await openStage();
  const ended = await useBreakGlass(stage, await waitingCard(stage));
  expect(buttonsOf(ended ?? empty)).toContain('change.review');

  await stage.press(ANA, ended, 'change.review');
  await stage.privateWord(ANA, 'You used break-glass, so someone else');
  await stage.press(DORA, ended, 'change.review');
  await stage.privateWord(DORA, 'Only @db-leads can decide this (rule 2)');

  await stage.press(BEN, ended, 'change.review');
  const form = await stage.modal(BEN, 'change.review');
  await stage.slack.submit(BEN, form, because('It was right: the shop was back in a minute'));
  await expect
    .poll(() => textsIn(stage, 'db-approvals'))
    .toContain('It was right: the shop was back in a minute');
  const after = await stage.card('It was right');
  expect(buttonsOf(after ?? empty)).not.toContain('change.review');
  await expect.poll(() => textsIn(stage, 'db-audit')).toContain('reviewed the break-glass use');
});

test('a pending break-glass review is on the Home tab of every user who may review it', async () => {
  const stage = await openStage();
  await useBreakGlass(stage, await waitingCard(stage));
  const home = async (as: string) => {
    await stage.slack.openHome({ as });
    await expect.poll(() => JSON.stringify(stage.slack.clientState(as).home)).toContain('Commands');
    return JSON.stringify(stage.slack.clientState(as).home);
  };
  for (const someone of [BEN, CLEO, GUS])
    expect(await home(someone)).toContain('Needs your answer (1)');
  for (const someone of [ANA, DORA]) expect(await home(someone)).not.toContain('Needs your answer');
});
