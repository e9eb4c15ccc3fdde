import { expect, test } from 'vitest';
import type { Json } from '../../sandbox/json.ts';
import { buttonsOf, placeOf, textOf } from '../harness/messages.ts';
import { STAGING } from '../harness/requests.ts';
import { startTestSandbox, type TestSandbox } from '../harness/test-sandbox.ts';
import { ANA, DORA } from '../harness/users.ts';

const empty = { text: '', blocks: [] };

test.for([
  ['/service stopp staging', 'no command /service stopp', 'service stop staging'],
  ['/service stop stagign', "There's no service called “stagign”", 'service stop staging'],
  [
    '/service show analytics',
    "There's no service called “analytics”",
    'service show analytics-prod',
  ],
])('for %s the nearest command is offered', async ([line = '', sentence = '', offer = '']) => {
  const sandbox = await startTestSandbox();
  await sandbox.slack.command(ANA, 'ops', line);
  const answer = (await sandbox.privateMessage(ANA, sentence)) ?? empty;
  expect(textOf(answer)).toContain(`"value":"${offer}"`);
  expect(buttonsOf(answer)).toContain('command.0');
});

test('a button runs the offered command for the user who presses it', async () => {
  const sandbox = await startTestSandbox();
  const offers = await sandbox.ask(
    ANA,
    '/service stop stagin at last',
    "There's no service called “stagin”",
  );
  await sandbox.press(ANA, offers, 'command.0');
  await sandbox.privateMessage(ANA, 'Stop staging?');
});

test('a command with missing arguments opens a form, and submitting it shows a preview', async () => {
  const sandbox = await startTestSandbox();
  await sandbox.slack.command(ANA, 'ops', '/service stop');
  const view = await sandbox.modal(ANA, 'service.stop');
  const found = await sandbox.slack.suggest({
    as: ANA,
    place: { in: 'view', viewId: view },
    blockId: 'service',
    actionId: 'service',
    value: 'stag',
  });
  const [option] = found.options;
  expect(option).toMatchObject({ value: STAGING });
  await sandbox.slack.submit(ANA, view, {
    service: { service: { type: 'external_select', selected_option: option } },
    reason: { reason: { type: 'plain_text_input', value: 'by form' } },
  });
  const preview = (await sandbox.privateMessage(ANA, 'Stop staging?')) ?? empty;
  expect(textOf(preview)).toContain('by form');
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

function pressedValue(
  block: Readonly<Record<string, unknown>> | undefined,
  action: string,
): string {
  const elements = (block?.elements ?? []) as readonly Readonly<Record<string, unknown>>[];
  return String(elements.find(({ action_id }) => action_id === action)?.value);
}

test('an edited preview replaces the first one, which can no longer be confirmed', async () => {
  const sandbox = await startTestSandbox();
  const first = await sandbox.ask(ANA, '/service stop staging for the night', 'Stop staging?');
  const [buttons] = (first?.blocks ?? []).filter(({ type }) => type === 'actions');
  await sandbox.press(ANA, first, 'change.edit');
  const view = await sandbox.modal(ANA, 'service.stop');
  await sandbox.slack.submit(ANA, view, {
    service: {
      service: {
        type: 'external_select',
        selected_option: { text: { type: 'plain_text', text: 'staging' }, value: STAGING },
      },
    },
    reason: { reason: { type: 'plain_text_input', value: 'for the week' } },
  });
  await sandbox.privateMessage(ANA, 'for the week');
  // Ana presses the old button, before her screen shows the edited preview.
  await sandbox.slack.press({
    as: ANA,
    place: placeOf(first),
    blockId: String(buttons?.block_id),
    actionId: 'change.confirm',
    element: { type: 'button', value: pressedValue(buttons, 'change.confirm') },
  });
  await sandbox.privateMessage(ANA, 'Nothing was changed');
  expect(sandbox.slack.messages('db-approvals')).toEqual([]);
});

test('the edit form of a preview contains the typed values', async () => {
  const sandbox = await startTestSandbox();
  await sandbox.slack.command(ANA, 'ops', '/service stop staging for the night');
  await sandbox.press(ANA, await sandbox.privateMessage(ANA, 'Stop staging?'), 'change.edit');
  const view = await sandbox.modal(ANA, 'service.stop');
  const shown = JSON.stringify(
    sandbox.slack.clientState(ANA).views.find(({ id }) => id === view)?.blocks,
  );
  expect(shown).toContain('for the night');
  expect(shown).toContain(STAGING);
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
  expect(sandbox.slack.messages('db-approvals')).toHaveLength(1);
});

test('help says who the reader is, what the roles allow, and what was used most', async () => {
  const sandbox = await startTestSandbox();
  await sandbox.ask(ANA, '/service scale staging min=16 max=32 a test', 'Scale staging?');
  await sandbox.slack.command(ANA, 'ops', '/signalbox');
  const own = (await sandbox.privateMessage(ANA, 'Commands of Signalbox')) ?? empty;
  expect(own.text).toMatch(/Your roles: .*operator \(@db-operators\), oncall\./);
  expect(textOf(own)).toMatch(/"value":"service scale".*"value":"signalbox help all"/);

  const help = await sandbox.ask(DORA, '/service help', 'Your roles: viewer (@engineering).');
  expect(help?.text).toContain('/service list  List the services');
  expect(help?.text).toContain('Not for your roles: service start, service stop, ');
  await sandbox.press(DORA, help, 'command.3');
  const all = (await sandbox.privateMessage(DORA, 'All commands of Signalbox')) ?? empty;
  expect(textOf(all)).toMatch(
    /You can use.*\/service list.*Your roles do not allow.*\/service stop/,
  );
});

test('/service list shows every service of the configuration', async () => {
  const sandbox = await startTestSandbox();
  await sandbox.slack.command(ANA, 'ops', '/service list');
  const list = textOf((await sandbox.privateMessage(ANA, '12 services')) ?? empty);
  for (const name of ['analytics-prod', 'staging', 'archive']) expect(list).toContain(name);
  expect(list).toMatch(/"text":"staging"[^{}]*},"value":"service show [0-9a-f-]{36}"/);
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
