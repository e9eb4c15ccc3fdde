import { expect, test } from 'vitest';
import type { Json } from '../../sandbox/json.ts';
import { REFUSED } from '../harness/refused.ts';
import { startTestSandbox, type TestSandbox } from '../harness/test-sandbox.ts';
import { ANA, DORA, EMIL, FINN } from '../harness/users.ts';

const OPS = 'C0OPS000001';
const GENERAL = 'C0GENERAL01';

/** Finn posts a message in a channel; with `answered`, Ana starts a thread below it. */
async function written(sandbox: TestSandbox, { answered = true, channel = OPS } = {}) {
  await sandbox.slack.sendMessage({ as: FINN, channel, text: 'staging is slow' });
  const ts = sandbox.slack.messages(channel).at(-1)?.ts ?? '';
  if (answered) await sandbox.slack.sendMessage({ as: ANA, channel, threadTs: ts, text: 'I look' });
  return { channel, ts };
}

async function opened(sandbox: TestSandbox, as: string, message: { channel: string; ts: string }) {
  await sandbox.slack.shortcut({ as, callbackId: 'command.palette', ...message });
  const view = await sandbox.modal(as, 'command.palette');
  await expect.poll(() => shown(sandbox, as)).not.toContain('Loading');
  return view;
}

function shown(sandbox: TestSandbox, as: string): string {
  return JSON.stringify(sandbox.slack.clientState(as).views.at(-1)?.blocks);
}

async function chosen(
  sandbox: TestSandbox,
  as: string,
  viewId: string,
  name: string,
): Promise<string> {
  const option = { text: { type: 'plain_text', text: name }, value: name };
  await sandbox.slack.press({
    as,
    place: { in: 'view', viewId },
    blockId: 'command',
    actionId: 'command',
    element: { type: 'static_select', action_id: 'command', selected_option: option },
  });
  return sandbox.modal(as, name.replace(' ', '.'));
}

async function service(
  sandbox: TestSandbox,
  as: string,
  viewId: string,
  name: string,
): Promise<Json> {
  const [option] = await sandbox.optionsFor(as, viewId, 'service', name);
  return { type: 'external_select', selected_option: option };
}

test('a query from a thread is answered in the thread, visible only to its user', async () => {
  const sandbox = await startTestSandbox();
  const message = await written(sandbox);
  const palette = await opened(sandbox, DORA, message);
  const form = await chosen(sandbox, DORA, palette, 'service show');
  expect(form).toBe(palette);
  const staging = await service(sandbox, DORA, form, 'staging');
  await sandbox.slack.submit(DORA, form, { service: { service: staging } });
  const answer = await sandbox.privateMessage(DORA, '/service show staging');
  expect(answer).toMatchObject({ channel: OPS, threadTs: message.ts, ephemeral: true });
  expect(sandbox.slack.clientState(DORA).views).toEqual([]);
  const seen = sandbox.slack
    .clientState(FINN)
    .messages.filter(({ threadTs }) => threadTs === message.ts);
  expect(seen.map(({ text }) => text)).toEqual(['I look']);
});

test('a change requested in a thread stays there until it is confirmed', async () => {
  const sandbox = await startTestSandbox();
  const message = await written(sandbox);
  const form = await chosen(sandbox, ANA, await opened(sandbox, ANA, message), 'service stop');
  await sandbox.slack.submit(ANA, form, {
    service: { service: await service(sandbox, ANA, form, 'staging') },
    reason: { reason: { type: 'plain_text_input', value: 'too slow' } },
  });
  const preview = await sandbox.privateMessage(ANA, 'Stop staging?');
  expect(preview).toMatchObject({ channel: OPS, threadTs: message.ts });

  await sandbox.press(ANA, preview, 'change.edit');
  const again = await sandbox.modal(ANA, 'service.stop');
  await sandbox.slack.submit(ANA, again, {
    service: { service: await service(sandbox, ANA, again, 'staging') },
    reason: { reason: { type: 'plain_text_input', value: 'much too slow' } },
  });
  const edited = await sandbox.privateMessage(ANA, 'much too slow');
  expect(edited).toMatchObject({ channel: OPS, threadTs: message.ts });
  await sandbox.press(ANA, edited, 'change.confirm');
  await sandbox.card('requests: stop staging');
});

test.for<[string, Parameters<typeof written>[1], object]>([
  [
    'below a message without a thread, the answer is posted in the channel',
    { answered: false },
    { channel: OPS, threadTs: null, ephemeral: true },
  ],
  [
    'in a channel without the app, the answer is a direct message',
    { channel: GENERAL },
    { channel: expect.stringMatching(/^D/) },
  ],
])('%s', async ([, where, answer]) => {
  const sandbox = await startTestSandbox();
  const palette = await opened(sandbox, DORA, await written(sandbox, where));
  await sandbox.slack.submit(DORA, await chosen(sandbox, DORA, palette, 'service list'));
  expect(await sandbox.privateMessage(DORA, '12 services')).toMatchObject(answer);
});

test('the palette offers only the permitted commands, and one that was not offered is refused', async () => {
  const sandbox = await startTestSandbox();
  const message = await written(sandbox);
  const palette = await opened(sandbox, DORA, message);
  expect(shown(sandbox, DORA)).toContain('service list');
  expect(shown(sandbox, DORA)).not.toContain('service stop');
  await chosen(sandbox, DORA, palette, 'service stop');
  expect(shown(sandbox, DORA)).toContain("You can't use /service stop");
  await opened(sandbox, ANA, message);
  expect(shown(sandbox, ANA)).toContain('service stop');
  await opened(sandbox, EMIL, message);
  expect(shown(sandbox, EMIL)).toContain('No rule of the policy allows you a command.');
});

test('the palette shows that the membership lookup failed', async () => {
  const sandbox = await startTestSandbox();
  const message = await written(sandbox);
  sandbox.clock.now = new Date(sandbox.clock.now.getTime() + 2 * 60_000);
  sandbox.slack.failNext({ method: 'users.info', times: 9, how: { error: 'internal_error' } });
  await opened(sandbox, DORA, message);
  expect(shown(sandbox, DORA)).toContain(REFUSED.lookupFailed);
});

test('when the modal does not open, the error is shown in the thread', async () => {
  const sandbox = await startTestSandbox();
  const message = await written(sandbox);
  sandbox.slack.failNext({ method: 'views.open', times: 9, how: { error: 'internal_error' } });
  await sandbox.slack.shortcut({ as: DORA, callbackId: 'command.palette', ...message });
  const told = await sandbox.privateMessage(DORA, 'Slack did not open the form');
  expect(told).toMatchObject({ channel: OPS, threadTs: message.ts });
});
