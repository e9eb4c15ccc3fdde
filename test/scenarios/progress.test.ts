import { expect, test } from 'vitest';
import { textOf } from '../harness/messages.ts';
import { startTestSandbox, type TestSandbox } from '../harness/test-sandbox.ts';
import { ANA } from '../harness/users.ts';

const DIRECT = 'D0ANA00001';
const LINE = '/cost 2026-07..2026-09 by month';

/** A sandbox whose delayed requests are answered when the test says so. */
async function startSlow() {
  const gate = Promise.withResolvers<void>();
  const sandbox = await startTestSandbox({ wait: () => gate.promise });
  await sandbox.slack.openHome({ as: ANA });
  sandbox.cloud.injectFault({ operation: 'usage cost', fault: 'delay-20s', times: 50 });
  return { sandbox, answer: gate.resolve };
}

/** The private messages of Ana, oldest first: their positions and texts. */
function privateOf({ slack }: TestSandbox, channel: string) {
  return slack
    .clientState(ANA)
    .messages.filter((each) => each.channel === channel && each.byBot)
    .map((each) => ({ ts: each.ts, text: textOf(each), ephemeral: each.ephemeral }));
}

/** Waits for the notice, then for the answer after it. */
async function noticeThenAnswer(
  { sandbox, answer }: Awaited<ReturnType<typeof startSlow>>,
  notice = 'Preparing the answer…',
  words = 'Aug 2026',
) {
  const texts = () => {
    sandbox.elapse(8_000);
    return sandbox.slack.clientState(ANA).messages.map(({ text }) => text);
  };
  await expect.poll(texts).toContain(notice);
  const shown = await sandbox.privateMessage(ANA, notice);
  answer();
  await sandbox.privateMessage(ANA, words);
  return shown;
}

test('only a very slow command in a channel shows a notice, which stays above its answer', async () => {
  const slow = await startSlow();
  await slow.sandbox.slack.command(ANA, 'ops', LINE);
  await expect.poll(() => slow.sandbox.cloud.requests().length).toBeGreaterThan(0);
  slow.sandbox.elapse(7_000);
  expect(privateOf(slow.sandbox, 'C0OPS000001')).toEqual([]);
  const notice = await noticeThenAnswer(slow);
  expect(notice?.ephemeral).toBe(true);
  // Slack cannot replace the reply to a slash command.
  expect(privateOf(slow.sandbox, notice?.channel ?? '')).toHaveLength(2);
});

test.for<[string, (sandbox: TestSandbox) => Promise<unknown>]>([
  ['command', ({ slack }) => slack.command(ANA, DIRECT, LINE)],
  ['typed line', ({ slack }) => slack.sendMessage({ as: ANA, channel: DIRECT, text: LINE })],
])('the answer to a slow %s in a direct message replaces the notice', async ([, ask]) => {
  const slow = await startSlow();
  await ask(slow.sandbox);
  const notice = await noticeThenAnswer(slow);
  const all = privateOf(slow.sandbox, DIRECT);
  expect(all).toMatchObject([{ ts: notice?.ts, ephemeral: false }]);
  expect(all[0]?.text).not.toContain('Preparing the answer…');
});

test.for([
  ['in a channel', 'ops', 2],
  ['in a direct message', DIRECT, 1],
] as const)('a slow button %s shows a notice', async ([, channel, more]) => {
  const slow = await startSlow();
  const { sandbox } = slow;
  await sandbox.slack.command(ANA, channel, '/cost 500d by day');
  const offer = await sandbox.privateMessage(ANA, 'at most 400 days');
  await sandbox.press(ANA, offer, 'command.0');
  await noticeThenAnswer(slow, 'Preparing the answer…', '16 Oct 2025');
  await expect.poll(() => privateOf(sandbox, offer?.channel ?? '')).toHaveLength(1 + more);
});

test('a slow form from the Home tab shows a notice, which the preview replaces', async () => {
  const slow = await startSlow();
  const { sandbox } = slow;
  const { slack, alerts } = sandbox;
  const alert = alerts.alerts().find(({ source, name }) => source === 'tile' && name);
  await sandbox.chooseOnHome(ANA, 'alert edit');
  const viewId = await sandbox.modal(ANA, 'alert.edit');
  const place = { in: 'view', viewId } as const;
  const field = { as: ANA, place, blockId: 'alert', actionId: 'alert' };
  const [option] = (await slack.suggest({ ...field, value: alert?.name ?? '' })).options;
  const element = { type: 'external_select', action_id: 'alert', selected_option: option };
  await slack.press({ ...field, element, values: { alert: { alert: element } } });
  const form = () => JSON.stringify(slack.clientState(ANA).views.at(-1)?.blocks);
  await expect.poll(form).toContain('initial_value');
  for (const operation of ['get alert', 'list alerts']) {
    alerts.injectFault({ operation, fault: 'delay-20s', times: 50 });
  }
  const message = { type: 'plain_text_input', value: 'Look at the dashboard' };
  await slack.submit(ANA, viewId, { message: { message } });
  const notice = await noticeThenAnswer(slow, 'Preparing the answer…', 'Look at the dashboard');
  expect(privateOf(sandbox, DIRECT)).toMatchObject([{ ts: notice?.ts }]);
  await sandbox.press(ANA, notice, 'change.confirm');
  await sandbox.privateMessage(ANA, 'Sent to #db-approvals');
  expect(privateOf(sandbox, DIRECT)).toHaveLength(1);
});

test('a notice before a form ends when the form is open', async () => {
  const slow = await startSlow();
  const { sandbox } = slow;
  sandbox.alerts.injectFault({ operation: 'list alerts', fault: 'delay-20s', times: 50 });
  await sandbox.slack.command(ANA, DIRECT, '/alert edit "5xx rate" threshold=250 for=soon');
  const notice = await noticeThenAnswer(slow, 'Preparing the answer…', 'Done.');
  await sandbox.modal(ANA, 'alert.edit');
  expect(privateOf(sandbox, DIRECT)).toMatchObject([{ ts: notice?.ts }]);
});

test('an answer that cannot replace its notice is a new message', async () => {
  const slow = await startSlow();
  const { slack } = slow.sandbox;
  await slack.command(ANA, DIRECT, LINE);
  slack.failNext({ method: 'chat.update', times: 1, how: { error: 'fatal_error' } });
  await noticeThenAnswer(slow);
  expect(privateOf(slow.sandbox, DIRECT)).toHaveLength(2);
});
