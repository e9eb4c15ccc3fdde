import { expect, test } from 'vitest';
import { ask } from './request.ts';
import { ANA, BEN, CLEO, EMIL, GINA, openStage, type Stage } from './stage.ts';

const HOME = { in: 'home' } as const;

function homeOf(stage: Stage, person: string): string {
  return JSON.stringify(stage.slack.clientState(person).home ?? []);
}

async function opened(stage: Stage, person: string, words: string): Promise<string> {
  await stage.slack.openHome({ as: person });
  await expect.poll(() => homeOf(stage, person)).toContain(words);
  return homeOf(stage, person);
}

test('an approval on the Home tab runs the change and redraws the tab', async () => {
  const stage = await openStage();
  await ask(stage);
  const home = await opened(stage, BEN, 'Waiting for you (1)');
  expect(home).toContain('for the night');
  expect(home).toContain(JSON.stringify({ type: 'channel', channel_id: 'C0APPROVALS' }));
  await stage.slack.click(BEN, HOME, 'change.approve');
  await stage.card('Stop staging: accepted');
  await expect.poll(() => homeOf(stage, BEN)).toContain('Nothing is waiting for you.');
  expect(stage.cloud.count('set state')).toBe(1);
});

test('a rejection on the Home tab asks for a reason', async () => {
  const stage = await openStage();
  await ask(stage);
  await opened(stage, BEN, 'Waiting for you (1)');
  await stage.slack.click(BEN, HOME, 'change.reject');
  const view = await stage.modal(BEN, 'change.reject');
  const element = { type: 'plain_text_input', value: 'not during the launch' };
  await stage.slack.submit(BEN, view, { reason: { reason: element } });
  await stage.card('Stop staging: rejected');
  await expect.poll(() => homeOf(stage, BEN)).toContain('Stop staging: rejected');
  expect(homeOf(stage, BEN)).toContain('Waiting for you (0)');
});

test('a requester cancels on the Home tab', async () => {
  const stage = await openStage();
  await ask(stage);
  const home = await opened(stage, ANA, 'Your requests (1)');
  expect(home).toContain('Waiting for you (0)');
  await stage.slack.click(ANA, HOME, 'change.cancel');
  await stage.card('Stop staging: cancelled');
  await expect.poll(() => homeOf(stage, ANA)).not.toContain('Your requests');
});

test.for(['change.approve', 'change.reject'])(
  'after another approver was faster, %s on the Home tab is answered in a direct message',
  async (id) => {
    const stage = await openStage();
    const card = await ask(stage);
    await opened(stage, BEN, 'Waiting for you (1)');
    await stage.press(CLEO, card, 'change.approve');
    await stage.card('Stop staging: accepted');
    await stage.slack.click(BEN, HOME, id);
    const told = await stage.privateWord(BEN, 'Too late.');
    expect(told?.channel).toMatch(/^D/);
    await expect.poll(() => homeOf(stage, BEN)).toContain('Waiting for you (0)');
  },
);

test('after the first of two approvals, the Home tab shows what is missing', async () => {
  const stage = await openStage();
  await stage.slack.command(ANA, 'ops', '/service stop analytics-prod nightly maintenance');
  await stage.press(ANA, await stage.privateWord(ANA, 'analytics-prod?'), 'change.confirm');
  await stage.card('waiting for approval');
  await opened(stage, BEN, '2 approvals');
  await stage.slack.click(BEN, HOME, 'change.approve');
  await expect.poll(() => homeOf(stage, BEN)).toContain('Waiting for you (0)');
  expect(await opened(stage, CLEO, 'Waiting for you (1)')).toContain('1 more of 2');
  expect(await opened(stage, ANA, 'Your requests (1)')).toContain('(1 of 2)');
});

test('a press on one Home tab does not publish the tabs of other users', async () => {
  const stage = await openStage();
  await ask(stage);
  await opened(stage, BEN, 'Waiting for you (1)');
  await stage.slack.click(BEN, HOME, 'change.approve');
  await expect.poll(() => homeOf(stage, BEN)).toContain('Waiting for you (0)');
  const published = stage.slack.calls('views.publish').map(({ args }) => args.user_id);
  expect(new Set(published)).toEqual(new Set([BEN]));
});

test('a command button on the Home tab opens its form, and the preview arrives as a direct message', async () => {
  const stage = await openStage();
  expect(await opened(stage, ANA, 'Commands')).toContain('/alert list');
  await stage.slack.click(ANA, HOME, 'command.service.stop');
  const view = await stage.modal(ANA, 'service.stop');
  const place = { in: 'view', viewId: view } as const;
  const asked = { as: ANA, place, blockId: 'service', actionId: 'service', value: 'staging' };
  const [option] = (await stage.slack.suggest(asked)).options;
  await stage.slack.submit(ANA, view, {
    service: { service: { type: 'external_select', selected_option: option } },
    reason: { reason: { type: 'plain_text_input', value: 'for the night' } },
  });
  expect((await stage.privateWord(ANA, 'Stop staging?'))?.channel).toMatch(/^D/);
});

test('a user without a role sees no changes on the Home tab', async () => {
  const stage = await openStage();
  const card = await ask(stage);
  await stage.press(BEN, card, 'change.approve');
  await stage.card('Stop staging: accepted');
  const home = await opened(stage, EMIL, 'No rule of the policy allows you a command.');
  expect(home).not.toContain('staging');
  expect(await opened(stage, CLEO, 'Recent')).toContain('Stop staging: accepted');
});

test('the Home tab tells a guest that guests cannot use Signalbox', async () => {
  const stage = await openStage();
  await opened(stage, GINA, 'Guests cannot use Signalbox.');
});

test('the Home tab does not list a preview that was never confirmed', async () => {
  const stage = await openStage();
  await stage.slack.command(ANA, 'ops', '/service stop ci for the night');
  await stage.press(ANA, await stage.privateWord(ANA, 'Stop ci?'), 'change.cancel');
  await stage.privateWord(ANA, 'Nothing was changed.');
  await stage.press(BEN, await ask(stage), 'change.approve');
  await stage.card('Stop staging: accepted');
  expect(await opened(stage, ANA, 'Stop staging: accepted')).not.toContain('Stop ci');
});
