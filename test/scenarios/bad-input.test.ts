import { expect, test } from 'vitest';
import type { Json } from '../../sandbox/json.ts';
import { elementsIn } from '../../sandbox/slack/input-state.ts';
import { placeOf, textOf } from '../harness/messages.ts';
import { STAGING } from '../harness/requests.ts';
import { startTestSandbox, type TestSandbox } from '../harness/test-sandbox.ts';
import { ANA, DORA } from '../harness/users.ts';

test('a button runs the offered command for the user who presses it', async () => {
  const sandbox = await startTestSandbox();
  const line = '/service stop stagin at last';
  const offers = await sandbox.ask(ANA, line, "There's no service called “stagin”");
  await sandbox.press(ANA, offers, 'command.0');
  await sandbox.privateMessage(ANA, 'Stop staging?');
});

test('a change of a prod service without a reason opens a form that keeps the typed values', async () => {
  const sandbox = await startTestSandbox();
  await sandbox.slack.command(ANA, 'ops', '/service stop analytics-prod');
  await sandbox.modal(ANA, 'service.stop');
  const shown = JSON.stringify(openView(sandbox)?.blocks);
  expect(shown.split('Add a reason for the approvers')).toHaveLength(2);
  expect(shown).toContain('analytics-prod');
  expect(reasonOf(sandbox)).toMatchObject({ optional: false, element: { focus_on_load: true } });
});

test('the reason is required in a form as soon as its service needs one', async () => {
  const sandbox = await startTestSandbox();
  await sandbox.slack.command(ANA, 'ops', '/service stop');
  const viewId = await sandbox.modal(ANA, 'service.stop');
  expect(reasonOf(sandbox)).toMatchObject({ optional: true });
  const place = { in: 'view', viewId } as const;
  const field = { as: ANA, place, blockId: 'service', actionId: 'service' };
  const optionOf = async (value: string) =>
    (await sandbox.slack.suggest({ ...field, value })).options[0];
  const element = { type: 'external_select', selected_option: await optionOf('analytics-prod') };

  const choose = (chosen: Json) =>
    sandbox.slack.press({ ...field, element: chosen, values: { service: { service: chosen } } });

  // The form is submitted before it was redrawn.
  await sandbox.slack.submit(ANA, viewId, { service: { service: element } });
  expect(openView(sandbox)?.errors).toEqual({ reason: 'Add a reason for the approvers.' });

  await choose(element);
  await expect.poll(() => reasonOf(sandbox)).toMatchObject({ optional: false });
  const staging = { type: 'external_select', selected_option: await optionOf('staging') };
  await choose(staging);
  await expect.poll(() => reasonOf(sandbox)).toMatchObject({ optional: true });
});

function openView(sandbox: TestSandbox) {
  return sandbox.slack.clientState(ANA).views.at(-1);
}

function reasonOf(sandbox: TestSandbox) {
  return openView(sandbox)?.blocks.find(({ block_id }) => block_id === 'reason');
}

test('an edit begins with the typed values, and its preview replaces the first one, which can no longer be confirmed', async () => {
  const sandbox = await startTestSandbox();
  const first = await sandbox.ask(ANA, '/service stop staging for the night', 'Stop staging?');
  const buttons = elementsIn(first.blocks);
  const confirm = buttons.find(({ element }) => element.action_id === 'change.confirm');
  await sandbox.press(ANA, first, 'change.edit');
  const view = await sandbox.modal(ANA, 'service.stop');
  const shown = JSON.stringify(openView(sandbox)?.blocks);
  for (const typed of ['for the night', STAGING]) expect(shown).toContain(typed);
  const reason = { type: 'plain_text_input', value: 'for the week' };
  await sandbox.slack.submit(ANA, view, { reason: { reason } });
  await sandbox.privateMessage(ANA, 'for the week');
  // Ana presses the old button, before her screen shows the edited preview.
  await sandbox.slack.press({
    as: ANA,
    place: placeOf(first),
    blockId: confirm?.blockId ?? '',
    actionId: 'change.confirm',
    element: { type: 'button', value: String(confirm?.element.value) },
  });
  await sandbox.privateMessage(ANA, 'Nothing was changed');
  expect(sandbox.slack.messages('db-approvals')).toEqual([]);
});

test('a second click on confirm posts no second card', async () => {
  const sandbox = await startTestSandbox();
  const preview = await sandbox.ask(ANA, '/service stop staging for the night', 'Stop staging?');
  await Promise.all([
    sandbox.press(ANA, preview, 'change.confirm'),
    sandbox.press(ANA, preview, 'change.confirm'),
  ]);
  await sandbox.card('requests: ');
  await sandbox.privateMessage(ANA, 'Sent to #db-approvals');
  expect(sandbox.slack.messages('db-approvals')).toHaveLength(1);
});

test('help says who the reader is, what the roles allow, and what was used most', async () => {
  const sandbox = await startTestSandbox();
  await sandbox.ask(ANA, '/service scale staging min=16 max=32 a test', 'Scale staging?');
  const own = await sandbox.ask(ANA, '/signalbox', 'Commands of Signalbox');
  expect(own.text).toMatch(/Your roles: .*operator \(@db-operators\), oncall\./);
  expect(textOf(own)).toMatch(/"value":"service scale".*"value":"signalbox help all"/);
  const help = await sandbox.ask(DORA, '/service help', 'Your roles: viewer (@engineering).');
  await sandbox.press(DORA, help, 'command.3');
  const all = await sandbox.privateMessage(DORA, 'All commands of Signalbox');
  expect(textOf(all)).toMatch(
    /You can use.*\/service list.*Your roles do not allow.*\/service stop/,
  );
});

test('a command of more than 5,000 characters gets a sentence', async () => {
  const sandbox = await startTestSandbox();
  const delivered = await sandbox.slack.command(ANA, 'ops', `/service ${'x'.repeat(6_000)}`);
  expect(delivered.error).toBeNull();
  await sandbox.privateMessage(ANA, 'The command is too long: 6,000 of at most 5,000 characters.');
});

test('an answer that the response URL refuses with status 200 is posted as a message', async () => {
  const sandbox = await startTestSandbox();
  sandbox.slack.failNext({ method: 'response_url', times: 1, how: { error: 'used_url' } });
  await sandbox.ask(ANA, '/service show staging', 'staging');
  expect(sandbox.slack.calls('chat.postEphemeral')).toHaveLength(1);
});
