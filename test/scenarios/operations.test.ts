import { expect, test } from 'vitest';
import { CREATE } from '../harness/following.ts';
import { textOf } from '../harness/messages.ts';
import { REFUSED } from '../harness/refused.ts';
import { accepted, NO_MESSAGE, requested, waitUntilIdle } from '../harness/requests.ts';
import { startTestSandbox, type TestSandbox } from '../harness/test-sandbox.ts';
import { ANA, BEN, DORA, EMIL } from '../harness/users.ts';

async function approved(sandbox: TestSandbox, line: string, title: string, state = '') {
  const preview = await sandbox.ask(ANA, line, `${title}${state}?`);
  await sandbox.press(ANA, preview, 'change.confirm');
  const waiting = await sandbox.card(requested(`${title}${state}`));
  await sandbox.press(BEN, waiting, 'change.approve');
  const now = () => sandbox.slack.messages('db-approvals').find(({ ts }) => ts === waiting?.ts);
  await expect.poll(() => now()?.text).toContain(accepted(title));
  // The answer to Confirm takes the place of the preview.
  await waitUntilIdle(sandbox);
  return { preview, card: now() };
}

/** The request that created a service, and the password in its answer. */
function creation({ cloud }: TestSandbox) {
  const created = cloud.requests().find(({ operation }) => operation === 'create service');
  const [, password = 'no password'] = /"password":"([^"]+)"/.exec(JSON.stringify(created)) ?? [];
  return { body: created?.body, password };
}

test('the password of a created service is shown once', async () => {
  const sandbox = await startTestSandbox();
  const { preview, card } = await approved(sandbox, CREATE, 'Create service analytics new');
  for (const message of [preview, card]) {
    expect(message?.text).toContain('aws eu-west-1 · 16–32 GB · from 10.0.0.0/8');
    expect(message?.text).not.toMatch(/[Ll]ast seen|^Service {2}/m);
  }
  const { body, password } = creation(sandbox);
  expect(body).toEqual({
    name: 'analytics new',
    provider: 'aws',
    region: 'eu-west-1',
    ipAccessList: [{ source: '10.0.0.0/8', description: '' }],
    minReplicaMemoryGb: 16,
    maxReplicaMemoryGb: 32,
  });
  expect(textOf(card ?? NO_MESSAGE)).not.toContain(password);

  await sandbox.press(ANA, card, 'change.reveal');
  const passwordModal = () => JSON.stringify(sandbox.slack.clientState(ANA).views);
  await expect.poll(passwordModal).toContain(password);
  expect(passwordModal()).toContain('Password of analytics new.');
  const shown = sandbox.slack.messages('db-approvals').map(textOf).join('\n');
  expect(shown).toMatch(/nativesecure \S+:9440 as default/);
  expect(shown).toMatch(/- \{ name: "analytics new", id: [0-9a-f-]{36}, tags: \[\] \}/);
  await sandbox.slack.close(ANA, sandbox.slack.clientState(ANA).views.at(-1)?.id ?? '');
  // What was shown once has no button any more.
  await expect.poll(() => seenBy(sandbox, ANA)).not.toContain('change.reveal');
  await sandbox.ask(ANA, '/service show "analytics new"', 'reply to service create');
});

test.for([{ error: 'not_found' }, 'reply-lost'] as const)(
  'a password whose modal fails to open (%s) stays available to its requester only',
  async (how) => {
    const sandbox = await startTestSandbox();
    const { card } = await approved(sandbox, CREATE, 'Create service analytics new');
    sandbox.slack.failNext({ method: 'views.open', times: 9, how });
    await sandbox.press(ANA, card, 'change.reveal');
    await sandbox.privateMessage(ANA, 'Slack did not confirm that it showed the password');
    sandbox.slack.clearFaults();
    await sandbox.press(BEN, card, 'change.reveal');
    await sandbox.privateMessage(BEN, 'There is no password to show');
    await sandbox.press(ANA, card, 'change.reveal');
    await expect
      .poll(() => JSON.stringify(sandbox.slack.clientState(ANA).views))
      .toContain(creation(sandbox).password);

    await sandbox.slack.command(DORA, 'ops', '/change log target=new');
    const shown = () => sandbox.privateMessage(DORA, 'saw the password of');
    await expect.poll(async () => (await shown())?.text).toContain('saw the password');
    const log = (await shown())?.text ?? '';
    expect(log).toContain('may not have seen the password of service create analytics new');
    await expect.poll(() => seenBy(sandbox, ANA)).not.toContain('change.reveal');
  },
);

function seenBy({ slack }: TestSandbox, user: string): string {
  return JSON.stringify(slack.clientState(user).messages);
}

test('an alert edited after the preview is not overwritten', async () => {
  const sandbox = await startTestSandbox();
  const alert = sandbox.alerts.alerts().find(({ name }) => name && !name.includes('<'));
  await sandbox.confirm(ANA, `/alert edit ${alert?.id} threshold=4321`, 'Edit alert');
  const card = await sandbox.card('requests: ');
  sandbox.alerts.editAlert(alert?.id ?? '', { threshold: 99 });
  await sandbox.press(BEN, card, 'change.approve');
  const stale = await sandbox.card('not run: the target changed since the preview');
  expect(stale?.text).toContain('Threshold  was 100, is now 99');
  expect(sandbox.alerts.count('update alert')).toBe(0);
});

test('an encryption key is not posted to a channel; approvers see it in a private answer', async () => {
  const sandbox = await startTestSandbox();
  const line =
    '/service create "analytics new" provider=aws region=eu-west-1 ip=10.0.0.0/8 encryption-key=arn:key-1 "a new market"';
  const preview = await sandbox.ask(ANA, line, 'Create service analytics new?');
  expect(textOf(preview)).toContain('arn:key-1');
  await sandbox.press(ANA, preview, 'change.confirm');
  const card = await sandbox.card('requests: create service analytics new');
  expect(textOf(card)).toContain('from 10.0.0.0/8');
  expect(textOf(card)).not.toContain('arn:key-1');
  await sandbox.press(EMIL, card, 'change.details');
  await sandbox.privateMessage(EMIL, REFUSED.notAnApproverOf('@db-leads'));
  await sandbox.press(BEN, card, 'change.details');
  await sandbox.privateMessage(BEN, 'arn:key-1');
});

test('an alert form that was open during another edit does not revert that edit', async () => {
  const sandbox = await startTestSandbox();
  const alert = sandbox.alerts.alerts().find(({ source, name }) => source === 'tile' && name);
  const id = alert?.id ?? '';
  await sandbox.slack.command(ANA, 'ops', `/alert edit ${id}`);
  const view = await sandbox.modal(ANA, 'alert.edit');
  const shown = () => sandbox.slack.clientState(ANA).views.find((one) => one.id === view);
  await expect.poll(() => JSON.stringify(shown()?.blocks)).toContain('initial_value');

  sandbox.alerts.editAlert(id, { threshold: 4242 });
  const text = (name: string, value: string) => ({
    [name]: { [name]: { type: 'plain_text_input', value } },
  });
  await sandbox.slack.submit(ANA, view, {
    ...text('threshold', String(alert?.threshold)),
    ...text('interval', String(alert?.interval)),
    ...text('name', String(alert?.name)),
    ...text('message', 'Look at the new dashboard'),
  });
  const preview = textOf(await sandbox.privateMessage(ANA, 'Look at the new dashboard'));
  expect(preview).not.toContain('4242 → ');
  expect(preview).toContain('Unchanged');
});
