import { expect, test } from 'vitest';
import { textOf } from '../harness/messages.ts';
import { NO_MESSAGE, requestChange, waitUntilIdle } from '../harness/requests.ts';
import { startTestSandbox, type TestSandbox } from '../harness/test-sandbox.ts';
import { ANA, BEN, CLEO } from '../harness/users.ts';

type Slack = TestSandbox['slack'];

const DAY_MS = 24 * 3_600_000;
const reason = { reason: { reason: { type: 'plain_text_input', value: 'not tonight' } } };

const errorOf = (sandbox: TestSandbox, form: string) =>
  sandbox.slack.clientState(BEN).views.find(({ id }) => id === form)?.errors.reason;

test('a form whose card expired meanwhile stays open and says so', async () => {
  const sandbox = await startTestSandbox();
  await sandbox.press(BEN, await requestChange(sandbox), 'change.reject');
  const form = await sandbox.modal(BEN, 'change.reject');
  sandbox.pass(DAY_MS);
  await sandbox.card('Stop staging: expired');
  await sandbox.slack.submit(BEN, form, reason);
  expect(errorOf(sandbox, form)).toBe(
    'Too late: it has expired. Request it again if it is still needed.',
  );
  await sandbox.privateMessage(BEN, 'Request it again if it is still needed');
});

test('a form about an outcome that another user has recorded says so', async () => {
  const sandbox = await startTestSandbox();
  const fault = { operation: 'set state', fault: 'close-after-effect', times: 1 } as const;
  sandbox.cloud.injectFault(fault);
  await sandbox.press(BEN, await requestChange(sandbox), 'change.approve');
  const unknown = await sandbox.card('outcome unknown');
  await sandbox.press(BEN, unknown, 'change.did-not-happen');
  const form = await sandbox.modal(BEN, 'change.did-not-happen');
  await sandbox.press(CLEO, unknown, 'change.happened');
  const faster = await sandbox.modal(CLEO, 'change.happened');
  await sandbox.slack.submit(CLEO, faster, reason);
  const card = () => sandbox.slack.messages('db-approvals').find(({ ts }) => ts === unknown?.ts);
  await expect.poll(() => textOf(card() ?? NO_MESSAGE)).not.toContain('outcome unknown');
  await sandbox.slack.submit(BEN, form, reason);
  expect(errorOf(sandbox, form)).toMatch(/^Too late: it was accepted\./);
});

const REFUSED: readonly (readonly [how: Parameters<Slack['failNext']>[0]['how'], words: string])[] =
  [
    [{ error: 'expired_trigger_id' }, 'did not open the form within 3 s'],
    [{ error: 'exchanged_trigger_id' }, 'did not open the form within 3 s'],
    [{ error: 'missing_scope' }, 'did not open the form: it refused it (missing_scope)'],
    ['server-error', 'did not open the form: it did not answer'],
    ['html', 'did not open the form: it did not answer'],
    // The client waits as long as Slack says: the last one.
    ['rate-limited', 'did not open the form: it limits the rate'],
  ];

test('a form that Slack does not open is not an internal error', async () => {
  const { slack, ...sandbox } = await startTestSandbox();
  for (const [how, words] of REFUSED) {
    slack.clearFaults();
    slack.failNext({ method: 'views.open', times: 9, retryAfterSeconds: 30, how });
    const answer = await sandbox.nextAnswer(ANA, '/service stop', words);
    expect(answer).toMatch(/Nothing was changed\. Try again/);
    expect(answer).not.toContain('internal error');
  }
});

test.for(['rate-limited', 'server-error'] as const)(
  'a form whose opening meets %s once opens while its trigger is valid',
  async (how) => {
    const sandbox = await startTestSandbox({ waitsPass: true });
    sandbox.slack.failNext({ method: 'views.open', times: 1, how });
    await sandbox.slack.command(ANA, 'ops', '/service stop');
    await sandbox.modal(ANA, 'service.stop');
  },
);

test('a form that opened although Slack did not answer is not opened twice', async () => {
  const sandbox = await startTestSandbox();
  sandbox.slack.failNext({ method: 'views.open', times: 1, how: 'reply-lost' });
  await sandbox.slack.command(ANA, 'ops', '/service stop');
  await sandbox.modal(ANA, 'service.stop');
  await waitUntilIdle(sandbox);
  const messages = sandbox.slack.clientState(ANA).messages.map(textOf).join();
  expect(messages).not.toContain('did not open the form');
});

/** The form to create an endpoint, with a choice of its type. */
async function endpointForm(sandbox: TestSandbox) {
  await sandbox.slack.command(ANA, 'ops', '/endpoint create staging');
  const viewId = await sandbox.modal(ANA, 'endpoint.create');
  const option = { text: { type: 'plain_text', text: 'x' }, value: 'VPC_ENDPOINT_SERVICE' };
  const chosen = { type: 'static_select', selected_option: option };
  const view = () => sandbox.slack.clientState(ANA).views.at(-1);
  const fields = () => (view()?.blocks ?? []).map(({ block_id }) => block_id);
  const values = { type: { type: chosen } };
  const place = { in: 'view', viewId } as const;
  const field = { as: ANA, place, blockId: 'type', actionId: 'type' };
  return {
    view,
    viewId,
    fields,
    values,
    choose: () => sandbox.slack.press({ ...field, element: chosen, values }),
  };
}

test.for([{ error: 'hash_conflict' }, 'rate-limited', 'server-error'] as const)(
  'a form whose redrawing meets %s is redrawn for the newest choice within 1.5 s',
  async (how) => {
    const sandbox = await startTestSandbox({ waitsPass: true });
    const form = await endpointForm(sandbox);
    sandbox.slack.failNext({ method: 'views.update', times: 1, how });
    const began = sandbox.clock.now.getTime();
    await form.choose();
    await expect.poll(form.fields).toContain('vpcEndpointServiceName');
    expect(sandbox.clock.now.getTime() - began).toBeLessThan(1_500);
  },
);

test('a form that was closed is not redrawn, and nobody gets a message', async () => {
  const sandbox = await startTestSandbox();
  const form = await endpointForm(sandbox);
  sandbox.slack.failNext({ method: 'views.update', times: 9, how: { error: 'not_found' } });
  await form.choose();
  await expect.poll(() => sandbox.slack.calls('views.update').length).toBe(4);
  expect(sandbox.slack.clientState(ANA).messages.map(textOf).join()).not.toMatch(/error|Done/);
});

test('a submission of a form that lacks fields gets the whole form', async () => {
  const sandbox = await startTestSandbox();
  const form = await endpointForm(sandbox);
  const how = { error: 'internal_error' } as const;
  sandbox.slack.failNext({ method: 'views.update', times: 9, how });
  await form.choose();
  const text = { type: 'plain_text_input', value: 'for the feed' };
  await sandbox.slack.submit(ANA, form.viewId, {
    ...form.values,
    description: { description: text },
    reason: { reason: text },
  });
  expect(form.view()?.errors).toEqual({});
  expect(form.fields()).toContain('vpcEndpointServiceName');
  expect(JSON.stringify(form.view()?.blocks)).toContain('The form lacked fields');
});
