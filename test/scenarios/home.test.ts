import { expect, test } from 'vitest';
import { textOf } from '../harness/messages.ts';
import { requestChange } from '../harness/requests.ts';
import { startTestSandbox, type TestSandbox } from '../harness/test-sandbox.ts';
import { ANA, BEN, CLEO, EMIL } from '../harness/users.ts';

const HOME = { in: 'home' } as const;

function homeOf(sandbox: TestSandbox, person: string): string {
  return JSON.stringify(sandbox.slack.clientState(person).home ?? []);
}

async function opened(sandbox: TestSandbox, person: string, words: string): Promise<string> {
  await sandbox.slack.openHome({ as: person });
  await expect.poll(() => homeOf(sandbox, person)).toContain(words);
  return homeOf(sandbox, person);
}

test('Home shows yesterday and the forecast of the month from the stored report', async () => {
  const sandbox = await startTestSandbox();
  expect(await opened(sandbox, ANA, 'All commands…')).not.toContain('Yesterday ');
  const answer = await sandbox.answer(ANA, '/cost mtd', ' · November heading for ');
  const [sentence = ''] = /November heading for [\d,]+/.exec(answer) ?? [];
  const read = sandbox.cloud.count('usage cost');

  const home = await opened(sandbox, ANA, 'Yesterday ');
  expect(home).toMatch(/Yesterday [\d.]+ credits so far/);
  expect(home).toContain(sentence.replace('November', 'November is') || 'no forecast');
  expect(sandbox.cloud.count('usage cost')).toBe(read);
  // A user without a role may not ask for costs.
  const other = await opened(sandbox, EMIL, 'No rule of the policy allows you a command.');
  expect(other).not.toContain('Yesterday ');
  expect(other).not.toContain('Waiting for you');
  expect(other).toContain('Ask to join @engineering (viewer), ');
});

test('the Home tab shows the request on demand, and an approval there runs the change', async () => {
  const sandbox = await startTestSandbox();
  await requestChange(sandbox);
  const home = await opened(sandbox, BEN, 'Waiting for you (1)');
  expect(home).toContain('for the night');
  expect(home).not.toContain('PATCH state');
  await sandbox.slack.click(BEN, HOME, 'change.details');
  expect(textOf(await sandbox.privateMessage(BEN, 'PATCH state'))).toContain('staging');
  expect(home).toContain(JSON.stringify({ type: 'channel', channel_id: 'C0APPROVALS' }));
  await sandbox.slack.click(BEN, HOME, 'change.approve');
  await sandbox.card('staging is stopping');
  await expect.poll(() => homeOf(sandbox, BEN)).toContain('Nothing is waiting for you.');
  // The tabs of other users are not drawn.
  const published = sandbox.slack.calls('views.publish').map(({ args }) => args.user_id);
  expect(new Set(published)).toEqual(new Set([BEN]));
  expect(sandbox.cloud.count('set state')).toBe(1);
});

test('a rejection on the Home tab asks for a reason', async () => {
  const sandbox = await startTestSandbox();
  await requestChange(sandbox);
  await opened(sandbox, BEN, 'Waiting for you (1)');
  await sandbox.slack.click(BEN, HOME, 'change.reject');
  const view = await sandbox.modal(BEN, 'change.reject');
  const element = { type: 'plain_text_input', value: 'not during the launch' };
  await sandbox.slack.submit(BEN, view, { reason: { reason: element } });
  await sandbox.card('Stop staging: rejected');
  await expect.poll(() => homeOf(sandbox, BEN)).toContain('Stop staging: rejected');
  expect(homeOf(sandbox, BEN)).toContain('Waiting for you (0)');
});

test('after another approver was faster, a press on the Home tab is answered in a direct message', async () => {
  const sandbox = await startTestSandbox();
  const card = await requestChange(sandbox);
  await opened(sandbox, BEN, 'Waiting for you (1)');
  await sandbox.press(CLEO, card, 'change.approve');
  await sandbox.card('staging is stopping');
  await sandbox.slack.click(BEN, HOME, 'change.reject');
  const told = await sandbox.privateMessage(BEN, 'Too late to reject: it was accepted');
  expect(told?.channel).toMatch(/^D/);
  await expect.poll(() => homeOf(sandbox, BEN)).toContain('Waiting for you (0)');
});

test('after the first of two approvals, the Home tab shows what is missing', async () => {
  const sandbox = await startTestSandbox();
  await sandbox.confirm(ANA, '/service stop analytics-prod nightly maintenance', 'analytics-prod?');
  await sandbox.card('requests: ');
  await opened(sandbox, BEN, '0 of 2 from ');
  await sandbox.slack.click(BEN, HOME, 'change.approve');
  await expect.poll(() => homeOf(sandbox, BEN)).toContain('Waiting for you (0)');
  expect(await opened(sandbox, CLEO, 'Waiting for you (1)')).toContain('1 of 2 from ');
  expect(await opened(sandbox, ANA, 'Your requests (1)')).toContain('(1 of 2)');
  // The Home tab is the answer: no message repeats it.
  const messages = sandbox.slack.clientState(BEN).messages.map(({ text }) => text);
  expect(messages.filter((text) => text.startsWith('Approved.'))).toEqual([]);
});

test('a command button on the Home tab opens its form, and the preview arrives as a direct message', async () => {
  const sandbox = await startTestSandbox();
  expect(await opened(sandbox, ANA, 'All commands…')).toContain('Find alerts');
  await sandbox.slack.click(ANA, HOME, 'command.service.stop');
  const view = await sandbox.modal(ANA, 'service.stop');
  const place = { in: 'view', viewId: view } as const;
  const asked = { as: ANA, place, blockId: 'service', actionId: 'service', value: 'staging' };
  const [option] = (await sandbox.slack.suggest(asked)).options;
  await sandbox.slack.submit(ANA, view, {
    service: { service: { type: 'external_select', selected_option: option } },
    reason: { reason: { type: 'plain_text_input', value: 'for the night' } },
  });
  expect((await sandbox.privateMessage(ANA, 'Stop staging?'))?.channel).toMatch(/^D/);
});

test('the Home tab does not list a preview that was never confirmed', async () => {
  const sandbox = await startTestSandbox();
  const draft = await sandbox.ask(ANA, '/service stop ci for the night', 'Stop ci?');
  await sandbox.press(ANA, draft, 'change.cancel');
  await sandbox.privateMessage(ANA, 'Nothing was changed.');
  await sandbox.press(BEN, await requestChange(sandbox), 'change.approve');
  await sandbox.card('staging is stopping');
  expect(await opened(sandbox, ANA, 'staging is stopping')).not.toContain('Stop ci');
});
