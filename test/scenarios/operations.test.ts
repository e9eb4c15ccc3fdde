import { expect, test } from 'vitest';
import { ORGANIZATION } from '../../sandbox/seed/organization.ts';
import { textOf } from '../harness/messages.ts';
import { REFUSED } from '../harness/refused.ts';
import {
  accepted,
  NO_MESSAGE,
  requestChange,
  requested,
  waitUntilIdle,
} from '../harness/requests.ts';
import { startTestSandbox, type TestSandbox } from '../harness/test-sandbox.ts';
import { ANA, BEN, DORA, EMIL } from '../harness/users.ts';

const STAGING = '1525c708-e4bc-426d-a9e7-d11b6c27caf5';

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

function sent(sandbox: TestSandbox, operation: string) {
  return sandbox.cloud.requests().find((request) => request.operation === operation)?.body;
}

test('a scale sends exactly the requested fields', async () => {
  const sandbox = await startTestSandbox();
  const line = '/service scale staging min=16 max=64 idle=on idle-timeout=15 "night saving"';
  const { preview, card } = await approved(sandbox, line, 'Scale staging');
  expect(textOf(preview)).toContain('Minimum memory per replica (GB)');
  expect(sent(sandbox, 'scale')).toEqual({
    minReplicaMemoryGb: 16,
    maxReplicaMemoryGb: 64,
    idleScaling: true,
    idleTimeoutMinutes: 15,
  });
  expect(textOf(card ?? NO_MESSAGE)).toContain('64');
  expect(sandbox.cloud.service(STAGING)).toMatchObject({ scaling: { minReplicaMemoryGb: 16 } });
});

test('a second scale shows the last seen values and can be undone', async () => {
  const sandbox = await startTestSandbox();
  await approved(sandbox, '/service scale staging min=16 max=64', 'Scale staging');
  sandbox.clock.now = new Date(sandbox.clock.now.getTime() + 60_000);
  const { preview, card } = await approved(
    sandbox,
    '/service scale staging max=128',
    'Scale staging',
  );
  expect(textOf(preview)).toContain('64 → ');
  await sandbox.press(ANA, card, 'change.undo');
  await sandbox.privateMessage(ANA, '128 → ');
});

test('for a size that is not a multiple of four, the nearest sizes are offered', async () => {
  const sandbox = await startTestSandbox();
  const answer = await sandbox.ask(
    ANA,
    '/service scale staging max=30 for the sale',
    'max must be a multiple of 4',
  );
  expect(textOf(answer)).toContain(', not 30:');
  expect(textOf(answer)).toContain('max=28');
  expect(textOf(answer)).toContain('max=32');
});

test('a service to be created has a name, and no id or last seen time', async () => {
  const sandbox = await startTestSandbox();
  const line =
    '/service create "analytics new" provider=aws region=eu-west-1 ip=10.0.0.0/8 min=16 max=32';
  const { preview, card } = await approved(sandbox, line, 'Create service analytics new');
  for (const message of [preview, card]) {
    expect(message?.text).toContain('aws eu-west-1 · 16–32 GB · from 10.0.0.0/8');
    expect(message?.text).not.toMatch(/[Ll]ast seen|^Service {2}/m);
  }
});

test('the password of a created service is shown once, to its requester only', async () => {
  const sandbox = await startTestSandbox();
  const line =
    '/service create "analytics new" provider=aws region=eu-west-1 ip=10.0.0.0/8 min=16 max=32 "a new market"';
  const { card } = await approved(sandbox, line, 'Create service analytics new');
  expect(sent(sandbox, 'create service')).toEqual({
    name: 'analytics new',
    provider: 'aws',
    region: 'eu-west-1',
    ipAccessList: [{ source: '10.0.0.0/8', description: '' }],
    minReplicaMemoryGb: 16,
    maxReplicaMemoryGb: 32,
  });
  const created = JSON.stringify(
    sandbox.cloud.requests().find(({ operation }) => operation === 'create service'),
  );
  const password = /"password":"([^"]+)"/.exec(created)?.[1] ?? 'no password';
  expect(textOf(card ?? NO_MESSAGE)).not.toContain(password);

  await sandbox.press(BEN, card, 'change.reveal');
  await sandbox.privateMessage(BEN, 'There is no password to show');
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

test.for([{ error: 'not_found' }, 'server-error', 'reply-lost'] as const)(
  'a password whose modal fails to open (%s) stays available to its requester only',
  async (how) => {
    const sandbox = await startTestSandbox();
    const line =
      '/service create "analytics new" provider=aws region=eu-west-1 ip=10.0.0.0/8 min=16 max=32';
    const { card } = await approved(sandbox, line, 'Create service analytics new');
    const created = JSON.stringify(
      sandbox.cloud.requests().find(({ operation }) => operation === 'create service'),
    );
    const password = /"password":"([^"]+)"/.exec(created)?.[1] ?? 'no password';

    sandbox.slack.failNext({ method: 'views.open', times: 9, how });
    await sandbox.press(ANA, card, 'change.reveal');
    await sandbox.privateMessage(ANA, 'Slack did not confirm that it showed the password');
    sandbox.slack.clearFaults();
    await sandbox.press(BEN, card, 'change.reveal');
    await sandbox.privateMessage(BEN, 'There is no password to show');
    await sandbox.press(ANA, card, 'change.reveal');
    await expect
      .poll(() => JSON.stringify(sandbox.slack.clientState(ANA).views))
      .toContain(password);

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

test('a created endpoint shows the next step', async () => {
  const sandbox = await startTestSandbox();
  const line =
    '/endpoint create analytics-prod type=VPC_ENDPOINT_SERVICE service-name=vpce-svc-0a1b2c3d description=orders "for the feed"';
  const { card } = await approved(sandbox, line, 'Create endpoint for analytics-prod');
  expect(sent(sandbox, 'create endpoint')).toEqual({
    type: 'VPC_ENDPOINT_SERVICE',
    description: 'orders',
    vpcEndpointServiceName: 'vpce-svc-0a1b2c3d',
  });
  expect(textOf(card ?? NO_MESSAGE)).toContain('accept it in the target cloud account');
});

test('a backup and the settings of a pipe are shown with exact values', async () => {
  const sandbox = await startTestSandbox();
  const backup = ORGANIZATION.backups.find(({ service }) => service === 'analytics-prod');
  await sandbox.ask(ANA, `/backup show analytics-prod ${backup?.id}`, 'Backup of analytics-prod');
  const settings = await sandbox.ask(
    ANA,
    '/pipe settings analytics-prod orders',
    'Settings of orders',
  );
  expect(textOf(settings)).toContain('10 GiB (10,737,418,240 bytes)');
  const gone = await sandbox.ask(
    ANA,
    `/backup show analytics-prod ${STAGING}`,
    'There is no such backup',
  );
  expect(textOf(gone)).toContain('404');
});

test('an alert is listed, shown and edited, and keeps its other fields', async () => {
  const sandbox = await startTestSandbox();
  const alert = sandbox.alerts.alerts().find(({ name }) => name && !name.includes('<'));
  const name = alert?.name ?? '';
  await sandbox.ask(ANA, '/alert list', '3 of 14 alerts firing');
  await sandbox.ask(ANA, `/alert show "${name}"`, 'Notifies');
  const { preview } = await approved(
    sandbox,
    `/alert edit "${name}" threshold=4321`,
    `Edit alert "${name}"`,
    ' (firing)',
  );
  expect(textOf(preview)).toContain('Unchanged');
  const put = sandbox.alerts.requests().find(({ method }) => method === 'PUT');
  expect(put?.body).toMatchObject({ threshold: 4321, source: alert?.source });
});

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

test('the alert form opens at once and is filled after the alert is read', async () => {
  const sandbox = await startTestSandbox();
  const alert = sandbox.alerts.alerts().find(({ source, name }) => source === 'tile' && name);
  await sandbox.slack.command(ANA, 'ops', '/alert edit');
  const view = await sandbox.modal(ANA, 'alert.edit');
  const place = { in: 'view', viewId: view } as const;
  const search = { as: ANA, place, blockId: 'alert', actionId: 'alert', value: alert?.name ?? '' };
  const [option] = (await sandbox.slack.suggest(search)).options;
  const element = { type: 'external_select', action_id: 'alert', selected_option: option };
  const values = { alert: { alert: element } };
  await sandbox.slack.press({
    as: ANA,
    place,
    blockId: 'alert',
    actionId: 'alert',
    element,
    values,
  });
  const shown = () => JSON.stringify(sandbox.slack.clientState(ANA).views.at(-1)?.blocks);
  await expect.poll(shown).toContain(`"initial_value":"${alert?.threshold}"`);
  expect(await requestChange(sandbox)).toBeDefined();
});

test.for([
  ['/service scale staging', 'service.scale'],
  ['/alert edit "5xx rate"', 'alert.edit'],
] as const)('the form of %s shows its target and asks for the rest', async ([line, form]) => {
  const sandbox = await startTestSandbox();
  await sandbox.slack.command(ANA, 'ops', line);
  await sandbox.modal(ANA, form);
  const shown = () => JSON.stringify(sandbox.slack.clientState(ANA).views.at(-1)?.blocks);
  await expect.poll(shown).toMatch(/staging|Alert “5xx rate”/);
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
