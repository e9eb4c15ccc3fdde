import { expect, test } from 'vitest';
import { WEBHOOKS } from '../../sandbox/seed/alert-references.ts';
import { CLOUD_KEY, ORGANIZATION } from '../../sandbox/seed/organization.ts';
import type { EditYaml } from '../harness/config.ts';
import { startExtended } from '../harness/following.ts';
import { textOf } from '../harness/messages.ts';
import { startTestSandbox, type TestSandbox } from '../harness/test-sandbox.ts';
import { ANA, BEN } from '../harness/users.ts';

const LATEST = 'c6a20eb7-42fe-4995-b901-d32fb4f1fa9e';
const OTHER_ID = '11111111-2222-4333-8444-555555555555';

interface OptionReply {
  readonly text: { readonly text: string };
  readonly value: string;
  readonly description?: { readonly text: string };
}

async function suggested({ optionsFor }: TestSandbox, viewId: string, field: string, value = '') {
  return (await optionsFor(ANA, viewId, field, value)) as unknown as readonly OptionReply[];
}

async function formFor(sandbox: TestSandbox, line: string, callbackId: string, as = ANA) {
  await sandbox.slack.command(as, 'ops', line);
  return sandbox.modal(as, callbackId);
}

function elementOf(sandbox: TestSandbox, field: string, as = ANA) {
  const blocks = sandbox.slack.clientState(as).views.at(-1)?.blocks ?? [];
  const block = blocks.find(({ block_id }) => block_id === field);
  return { ...Object(block), element: Object(Object(block).element) };
}

function chosenService(sandbox: TestSandbox) {
  const selected_option = elementOf(sandbox, 'service').element.initial_option;
  return { type: 'external_select', selected_option };
}

test('backups are offered with the latest finished one first, and the chosen one is shown', async () => {
  const sandbox = await startExtended();
  const form = await formFor(sandbox, '/backup show analytics-prod', 'backup.show');
  const options = await suggested(sandbox, form, 'backup');
  expect(options.map(({ value }) => value.slice(0, 8))).toEqual([
    'c6a20eb7',
    '53837fde',
    'a562f066',
  ]);
  expect(options[0]).toMatchObject({
    text: { text: '2026-11-20 09:00 UTC' },
    description: { text: 'done · 2 h ago · 9 GiB · incremental' },
  });
  const [other] = await suggested(sandbox, form, 'backup', OTHER_ID);
  expect(other).toMatchObject({
    value: OTHER_ID,
    description: { text: 'Not in a list; used as an id' },
  });
  const [picked] = options;
  await sandbox.slack.submit(ANA, form, {
    service: { service: chosenService(sandbox) },
    backup: { backup: { type: 'external_select', selected_option: picked } },
  });
  await sandbox.privateMessage(ANA, 'Backup of analytics-prod: done');
  const latest = '/backup show analytics-prod latest';
  expect(textOf(await sandbox.ask(ANA, latest, 'Backup of analytics-prod: done'))).toContain(
    LATEST,
  );
});

test('without the list, latest is unknown and an id works', async () => {
  const sandbox = await startTestSandbox();
  const answer = await sandbox.ask(
    ANA,
    '/backup show analytics-prod latest',
    'Latest backup of analytics-prod: unknown',
  );
  expect(answer?.text).toContain('/backup show analytics-prod &lt;backup id&gt; works');
  await sandbox.ask(ANA, `/backup show analytics-prod ${LATEST}`, 'Backup of analytics-prod: done');
});

test('for a new service, the backups and the warehouse of a service are found by its name', async () => {
  const sandbox = await startExtended();
  const form = await formFor(sandbox, '/service create eu', 'service.create');
  expect(elementOf(sandbox, 'backupId').hint.text).toBe(
    'Type the name of a service to find its backups',
  );
  expect(await suggested(sandbox, form, 'backupId')).toEqual([]);
  expect(sandbox.cloud.count('list backups')).toBe(0);
  const options = await suggested(sandbox, form, 'backupId', 'analytics-prod');
  expect(options[0]).toMatchObject({
    value: LATEST,
    text: { text: 'analytics-prod · 2026-11-20 09:00 UTC' },
  });
  expect(elementOf(sandbox, 'dataWarehouseId')).toMatchObject({
    label: { text: 'Existing warehouse' },
    hint: { text: 'Leave empty for a new warehouse' },
    element: { type: 'external_select' },
  });
  const [warehouse] = await suggested(sandbox, form, 'dataWarehouseId', 'analytics-prod');
  const prod = sandbox.cloud.services().find(({ name }) => name === 'analytics-prod');
  expect(warehouse?.value).toBe(prod?.warehouseId);
  expect(warehouse?.description?.text).toMatch(/^\d services? · aws /);
});

test('pipes of the server are offered with their states and can be typed by name', async () => {
  const sandbox = await startExtended({
    yaml: (file: Record<string, never>) => {
      const services = Object(file.services).map((one: object) => ({ ...one, pipes: [] }));
      return { ...file, services, cloud: { reads: 'extended' } };
    },
  });
  const form = await formFor(sandbox, '/pipe settings analytics-prod', 'pipe.settings');
  const options = await suggested(sandbox, form, 'pipe');
  expect(options[0]).toMatchObject({
    text: { text: 'orders' },
    description: { text: 'Running · stream, msk' },
  });
  const [chosen] = await suggested(sandbox, form, 'pipe', 'orders');
  await sandbox.slack.submit(ANA, form, {
    service: { service: chosenService(sandbox) },
    pipe: { pipe: { type: 'external_select', selected_option: chosen } },
  });
  await sandbox.privateMessage(ANA, 'Settings of orders in analytics-prod');
  await sandbox.ask(
    ANA,
    '/pipe settings analytics-prod clicks',
    'Settings of clicks in analytics-prod',
  );
});

test('the form of an alert shows the names of its webhook, dashboard and tile', async () => {
  const sandbox = await startExtended();
  const form = await formFor(sandbox, '/alert edit "Checkout latency p95"', 'alert.edit');
  const loaded = () => elementOf(sandbox, 'webhookId').element;
  await expect.poll(loaded).toMatchObject({
    initial_option: { text: { text: 'Production alerts' }, value: WEBHOOKS.operations },
  });
  expect(elementOf(sandbox, 'dashboardId').element.initial_option.text.text).toBe('Checkout');
  expect(elementOf(sandbox, 'tileId').element.initial_option.text.text).toBe('Latency');
  expect(elementOf(sandbox, 'webhookId').label.text).toBe('Webhook');
  const webhooks = await suggested(sandbox, form, 'webhookId', 'pag');
  expect(webhooks).toMatchObject([{ text: { text: 'Paging' }, value: WEBHOOKS.paging }]);
  const tiles = await suggested(sandbox, form, 'tileId');
  expect(tiles.map(({ description }) => description?.text)).toEqual([
    'of Checkout',
    'of Checkout',
    'of Checkout',
  ]);
});

test('with cloud.reads: contract the forms have text fields for ids', async () => {
  const sandbox = await startTestSandbox();
  await formFor(sandbox, '/backup show analytics-prod', 'backup.show');
  expect(elementOf(sandbox, 'backup').element.type).toBe('plain_text_input');
  await formFor(sandbox, '/service create eu', 'service.create');
  expect(elementOf(sandbox, 'backupId').hint).toBeUndefined();
  expect(elementOf(sandbox, 'dataWarehouseId')).toMatchObject({
    label: { text: 'Existing warehouse (id)' },
    hint: { text: 'Leave empty for a new warehouse; press Enter for more options' },
    element: { type: 'plain_text_input' },
  });
  expect(sandbox.cloud.requests().filter(({ operation }) => operation.startsWith('list'))).toEqual(
    [],
  );
});

test('a refused list leaves a text field', async () => {
  const sandbox = await startExtended();
  sandbox.alerts.injectFault({ operation: 'list webhooks', fault: '403', times: 9 });
  await formFor(sandbox, '/alert edit "Disk usage"', 'alert.edit');
  await expect.poll(() => elementOf(sandbox, 'webhookId').element.type).toBeDefined();
  await formFor(sandbox, '/alert edit "Disk usage"', 'alert.edit');
  await expect
    .poll(() => elementOf(sandbox, 'webhookId').element)
    .toMatchObject({ type: 'plain_text_input', initial_value: WEBHOOKS.operations });
});

test('a list that is late is left out, so that Slack gets the options in time', async () => {
  const sandbox = await startExtended();
  const form = await formFor(sandbox, '/backup show analytics-prod', 'backup.show');
  sandbox.cloud.injectFault({ operation: 'list backups', fault: 'hang', times: 1 });
  const pending = suggested(sandbox, form, 'backup', OTHER_ID);
  await expect.poll(() => sandbox.cloud.count('list backups')).toBe(1);
  sandbox.elapse(2_000);
  expect(await pending).toMatchObject([{ value: OTHER_ID }]);
});

test('a user who may not read a service is not offered its backups', async () => {
  const only: EditYaml = (file) => ({
    ...file,
    cloud: { reads: 'extended' },
    policy: [{ allow: ['backup show'], on: { services: ['staging'] }, to: 'viewer' }],
  });
  const sandbox = await startTestSandbox({ yaml: only });
  const form = await formFor(sandbox, '/backup show analytics-prod', 'backup.show');
  expect(await suggested(sandbox, form, 'backup')).toEqual([]);
  expect(sandbox.cloud.count('list backups')).toBe(0);
});

test('a hostile name of the server is one line of limited length', async () => {
  const name = `<!channel>\n${'x'.repeat(300)}`;
  const pipes = ORGANIZATION.pipes.map((pipe) => ({
    ...pipe,
    id: pipe.id.replace(/^./, '0'),
    name,
  }));
  const sandbox = await startExtended({ organization: { ...ORGANIZATION, pipes } });
  const form = await formFor(sandbox, '/pipe settings analytics-dev', 'pipe.settings');
  const [option] = await suggested(sandbox, form, 'pipe', 'xxx');
  expect(option?.text.text).toMatch(/^<!channel> x+…$/);
  expect(option?.text.text.length).toBe(75);
  expect(sandbox.cloud.count('list pipes')).toBe(1);
});

test('the key is refused later: the options stay those of the configuration', async () => {
  const sandbox = await startExtended();
  sandbox.cloud.setKey(CLOUD_KEY.id, { denied: ['list pipes'] });
  const form = await formFor(sandbox, '/pipe settings analytics-prod', 'pipe.settings');
  const options = await suggested(sandbox, form, 'pipe');
  expect(options.map(({ text }) => text.text)).toEqual(['orders', 'clicks', 'customers-copy']);
});

test.for<[string, string, string]>([
  ['dataWarehouseId', 'analytics-prod', 'analytics-prod'],
  ['backupId', 'analytics-prod', 'analytics-prod · '],
])('the choice of %s fills in provider and region', async ([field, value, words]) => {
  const sandbox = await startExtended();
  // What was listed is known.
  await sandbox.ask(ANA, '/service list', 'services');
  const form = await formFor(sandbox, '/service create "analytics new"', 'service.create');
  const option = (await suggested(sandbox, form, field, value)).find(({ text }) =>
    text.text.startsWith(words),
  );
  const place = { in: 'view', viewId: form } as const;
  const element = { type: 'external_select', action_id: field, selected_option: option };
  const pressed = {
    as: ANA,
    place,
    blockId: field,
    actionId: field,
    element,
    values: { [field]: { [field]: element } },
  };
  await sandbox.slack.press(pressed);
  const shown = () => JSON.stringify(elementOf(sandbox, 'region').element);
  await expect.poll(shown).toMatch(/"initial_option":.*(eu-central-1|eu-west-1|us-east-1)/);
  expect(JSON.stringify(elementOf(sandbox, 'provider').element)).toContain('aws');
});

test('a warehouse is named as the cards name it, and sent by its id', async () => {
  const sandbox = await startExtended();
  const line = '/service create "analytics new" provider=aws region=eu-west-1 ip=10.0.0.0/8';
  await sandbox.confirm(
    ANA,
    `${line} warehouse=main "new market"`,
    'Create service analytics new?',
  );
  const card = await sandbox.card('requests: create service');
  // A new service has the tags of its warehouse.
  await sandbox.press(BEN, card, 'change.approve');
  await expect.poll(() => sandbox.cloud.count('create service')).toBe(1);
  const sent = sandbox.cloud.requests().find(({ operation }) => operation === 'create service');
  expect(sent?.body).toMatchObject({ dataWarehouseId: '4e55fb27-7c55-4261-9f95-8d077d2398bc' });
  await sandbox.slack.command(ANA, 'ops', `${line} warehouse=mian "new market"`);
  await sandbox.modal(ANA, 'service.create');
  const shown = JSON.stringify(sandbox.slack.clientState(ANA).views);
  expect(shown).toContain('must be a warehouse of signalbox.yaml (lab, main, reporting)');
});
