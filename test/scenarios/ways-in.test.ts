import { expect, test } from 'vitest';
import { REFUSED } from '../harness/refused.ts';
import { requestAndApprove, setTime } from '../harness/requests.ts';
import { startTestSandbox, type TestSandbox } from '../harness/test-sandbox.ts';
import { ANA, EMIL, FINN, GINA } from '../harness/users.ts';

const OPS = 'C0OPS000001';
const GUEST = REFUSED.guest;

/** Users who get no data, with the beginning of their refusal. */
const OUTSIDERS = [
  ['a guest', GINA, REFUSED.guest],
  ['a user without a role', EMIL, "You can't "],
] as const;

/** Everything that Slack was asked to show to a user. */
function shownTo(sandbox: TestSandbox, as: string): string {
  const { messages, views } = sandbox.slack.clientState(as);
  const own = messages.filter(({ ephemeral, channel }) => ephemeral || channel[0] === 'D');
  return JSON.stringify([own, views]);
}

function modals(sandbox: TestSandbox): number {
  return sandbox.slack.calls('views.open').length + sandbox.slack.calls('views.update').length;
}

/** Ana opens the form to stop a service; then she becomes a guest. */
async function formOfGuest(line = '/service stop') {
  const sandbox = await startTestSandbox();
  await sandbox.slack.command(ANA, 'ops', line);
  const view = await sandbox.modal(ANA, line.slice(1).split(' ').slice(0, 2).join('.'));
  await sandbox.slack.admin.changePerson(ANA, { kind: 'guest' });
  return { sandbox, view };
}

/** Lines that would show names or values, were they answered. */
const LINES = [
  '/service scale',
  '/service scale staging',
  '/alert edit "Checkout errors"',
  '/service stop stagign',
  '/alert show "Checkout error"',
  '/service stp staging',
  '/service stop staging at=25:77',
  '/service scale staging min=9999',
  '/change unfreeze',
];

test.for(OUTSIDERS)(
  '%s who types a command or uses a shortcut gets the refusal and no data',
  async ([, as, refusal]) => {
    const sandbox = await startTestSandbox();
    const requests = sandbox.alerts.requests().length;
    const refusals = () =>
      sandbox.slack.clientState(as).messages.filter(({ text }) => text.includes(refusal)).length;
    for (const [index, line] of LINES.entries()) {
      await sandbox.slack.command(as, 'ops', line);
      await expect.poll(refusals, { message: line }).toBe(index + 1);
    }
    await sandbox.slack.shortcut({ as, callbackId: 'service.stop' });
    await expect.poll(refusals).toBe(LINES.length + 1);
    expect(shownTo(sandbox, as)).not.toMatch(
      /analytics|"service stop staging|nearest|Did you mean/,
    );
    expect(modals(sandbox)).toBe(0);
    expect(sandbox.alerts.requests()).toHaveLength(requests);
  },
);

test('a guest who opens the list of commands gets the refusal', async () => {
  const sandbox = await startTestSandbox();
  await sandbox.slack.sendMessage({ as: FINN, channel: OPS, text: 'staging is slow' });
  const ts = sandbox.slack.messages(OPS).at(-1)?.ts ?? '';
  await sandbox.slack.shortcut({ as: GINA, callbackId: 'command.palette', channel: OPS, ts });
  await expect.poll(() => shownTo(sandbox, GINA)).toContain(GUEST);
});

test('a user who left the role gets no names in the type-ahead of an open form', async () => {
  const sandbox = await startTestSandbox();
  await sandbox.slack.command(ANA, 'ops', '/service stop');
  const viewId = await sandbox.modal(ANA, 'service.stop');
  expect(await sandbox.optionsFor(ANA, viewId, 'service', 'sta')).not.toEqual([]);
  await sandbox.slack.admin.setGroup('db-operators', [FINN]);
  expect(await sandbox.optionsFor(ANA, viewId, 'service', 'sta')).toEqual([]);
});

test('a guest who chooses a value in an open form gets the refusal instead of its fields', async () => {
  const { sandbox, view } = await formOfGuest('/service create');
  const option = { text: { type: 'plain_text', text: 'gcp' }, value: 'gcp' };
  await sandbox.slack.press({
    as: ANA,
    place: { in: 'view', viewId: view },
    blockId: 'provider',
    actionId: 'provider',
    element: { type: 'static_select', action_id: 'provider', selected_option: option },
  });
  await expect.poll(() => shownTo(sandbox, ANA)).toContain(GUEST);
});

test('a guest gets no names in the type-ahead of an open form, and no corrections from its submission', async () => {
  const { sandbox, view } = await formOfGuest();
  expect(await sandbox.optionsFor(ANA, view, 'service', 'sta')).toEqual([]);
  const option = { text: { type: 'plain_text', text: 'stag' }, value: 'no-such-service' };
  await sandbox.slack.submit(ANA, view, {
    service: { service: { type: 'external_select', selected_option: option } },
    reason: { reason: { type: 'plain_text_input', value: 'for the night' } },
  });
  await sandbox.privateMessage(ANA, GUEST);
  expect(sandbox.slack.clientState(ANA).views).toEqual([]);
});

test('a guest who edits an own draft gets the refusal and no form', async () => {
  const sandbox = await startTestSandbox();
  const preview = await sandbox.ask(ANA, '/service stop staging for the night', 'Stop staging?');
  await sandbox.slack.admin.changePerson(ANA, { kind: 'guest' });
  await sandbox.press(ANA, preview, 'change.edit');
  await sandbox.privateMessage(ANA, GUEST);
  expect(modals(sandbox)).toBe(0);
});

test('a guest who presses an offered command gets the refusal', async () => {
  const sandbox = await startTestSandbox();
  const offers = await sandbox.ask(ANA, '/service stop stagin', 'no service called');
  await sandbox.slack.admin.changePerson(ANA, { kind: 'guest' });
  await sandbox.press(ANA, offers, 'command.0');
  await sandbox.privateMessage(ANA, GUEST);
  expect(modals(sandbox)).toBe(0);
});

test.for(OUTSIDERS)('%s who presses Undo gets the refusal', async ([, as, refusal]) => {
  const sandbox = await startTestSandbox();
  await requestAndApprove(sandbox, '/service stop staging for the night');
  const card = await sandbox.card('staging is stopping');
  setTime(sandbox, '13:00');
  await requestAndApprove(sandbox, '/service start staging for the day');
  await sandbox.card('staging is starting');
  await sandbox.press(as, card, 'change.undo');
  await sandbox.privateMessage(as, refusal);
});
