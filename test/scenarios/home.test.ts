import { expect, test } from 'vitest';
import { ask } from './asking.ts';
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

test('Ben approves in his Home, which is drawn anew, and the change runs', async () => {
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

test('Ben rejects in his Home with a reason', async () => {
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

test('Ana takes her request back in her Home', async () => {
  const stage = await openStage();
  await ask(stage);
  const home = await opened(stage, ANA, 'Your requests (1)');
  expect(home).toContain('Waiting for you (0)');
  await stage.slack.click(ANA, HOME, 'change.cancel');
  await stage.card('Stop staging: cancelled');
  await expect.poll(() => homeOf(stage, ANA)).not.toContain('Your requests');
});

test.for(['change.approve', 'change.reject'])(
  'Ben presses %s in a Home that Cleo was faster than: he is told in his messages',
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

test('a second approval is still missing: the Home of the first approver says so', async () => {
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

test('a press in an open Home does not publish a Home for anybody else', async () => {
  const stage = await openStage();
  await ask(stage);
  await opened(stage, BEN, 'Waiting for you (1)');
  await stage.slack.click(BEN, HOME, 'change.approve');
  await expect.poll(() => homeOf(stage, BEN)).toContain('Waiting for you (0)');
  const published = stage.slack.calls('views.publish').map(({ args }) => args.user_id);
  expect(new Set(published)).toEqual(new Set([BEN]));
});

test('a button in Home opens the form of its command, and the preview comes as a message', async () => {
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

test('whoever has no role sees nothing of what others do', async () => {
  const stage = await openStage();
  const card = await ask(stage);
  await stage.press(BEN, card, 'change.approve');
  await stage.card('Stop staging: accepted');
  const home = await opened(stage, EMIL, 'No rule of the policy allows you a command.');
  expect(home).not.toContain('staging');
  expect(await opened(stage, CLEO, 'Recent')).toContain('Stop staging: accepted');
});

test('a guest reads why there is nothing for guests', async () => {
  const stage = await openStage();
  await opened(stage, GINA, 'Guests cannot use Signalbox.');
});

test('a preview that was never sent off is no news', async () => {
  const stage = await openStage();
  await stage.slack.command(ANA, 'ops', '/service stop ci for the night');
  await stage.press(ANA, await stage.privateWord(ANA, 'Stop ci?'), 'change.cancel');
  await stage.privateWord(ANA, 'Nothing was changed.');
  await stage.press(BEN, await ask(stage), 'change.approve');
  await stage.card('Stop staging: accepted');
  expect(await opened(stage, ANA, 'Stop staging: accepted')).not.toContain('Stop ci');
});
