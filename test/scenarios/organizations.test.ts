import { expect, test } from 'vitest';
import { parse } from 'yaml';
import { sandboxYaml } from '../../sandbox/configuration.ts';
import { ORGANIZATION, otherOrganization } from '../../sandbox/seed/organization.ts';
import { type Readable, textOf } from '../harness/messages.ts';
import { timeInSteps } from '../harness/passing-time.ts';
import { eventsIn } from '../harness/read-log.ts';
import { cardAfterRetries, requestChange, STAGING, setTime } from '../harness/requests.ts';
import { startTestSandbox, type TestSandbox } from '../harness/test-sandbox.ts';
import { ANA, BEN } from '../harness/users.ts';
import { emptyUrl } from '../storage/engines.ts';

const US = otherOrganization();
const US_STAGING = US.services.find(({ name }) => name === 'staging')?.id ?? '';

interface File {
  readonly policy: readonly object[];
}

/** Two organizations, prod-eu and prod-us, with services of the same names. */
const two =
  (more: (file: File) => object = () => ({})) =>
  () => {
    const file = parse(sandboxYaml([ORGANIZATION, US]));
    return { ...file, cloud: { reads: 'extended' }, ...more(file) };
  };

async function started(databaseUrl = 'file::memory:', more?: (file: File) => object) {
  const sandbox = await startTestSandbox({ databaseUrl, other: US, yaml: two(more) as never });
  const { other } = sandbox;
  if (!sandbox.started.ok || !other) throw new Error('The two organizations did not start');
  return { ...sandbox, other };
}

interface Element {
  readonly type: string;
  readonly text: { readonly text: string };
}

const buttonTexts = ({ blocks }: Readable) =>
  blocks.flatMap(({ elements = [] }) =>
    (elements as readonly Element[]).flatMap((one) =>
      one.type === 'button' ? [one.text.text] : [],
    ),
  );

const stops = ({ cloud, other }: TestSandbox) => [
  cloud.effectCount('set state', STAGING),
  other?.effectCount('set state', US_STAGING),
];

/** From the question by its second button to the approved change in prod-us. */
async function stopInSecond(sandbox: TestSandbox) {
  const asked = await sandbox.ask(ANA, '/service stop staging for the night', 'Which one');
  expect(asked.text).toContain('2 services are called “staging”. Which one do you mean?');
  expect(buttonTexts(asked)).toEqual(['prod-eu/staging', 'prod-us/staging']);
  await sandbox.press(ANA, asked, 'command.1');
  await confirmStop(sandbox, 'prod-us/staging');
}

async function confirmStop(sandbox: TestSandbox, name: string) {
  const preview = await sandbox.privateMessage(ANA, `Stop ${name}?`);
  await sandbox.press(ANA, preview, 'change.confirm');
  await sandbox.press(BEN, await sandbox.card(`requests: stop ${name}`), 'change.approve');
  await cardAfterRetries(sandbox, `${name} is stopping`);
}

test('two services of one name: asked about, stopped in each, and held by their own locks', async () => {
  const databaseUrl = await emptyUrl('sqlite');
  const sandbox = await started(databaseUrl);
  // The request of prod-eu gets no answer, so that its target stays locked.
  sandbox.cloud.injectFault({ operation: 'set state', fault: 'reset', times: 1 });
  const card = await requestChange(sandbox, ANA, '/service stop prod-eu/staging for the night');
  await sandbox.press(BEN, card, 'change.approve');
  await cardAfterRetries(sandbox, 'unknown');
  await stopInSecond(sandbox);
  expect(stops(sandbox)).toEqual([0, 1]);
  // What was not sent yet is taken again.
  const taken = new Set((await eventsIn(databaseUrl, 'taken')).map(({ stream }) => stream));
  expect([...taken]).toEqual([
    `target/${ORGANIZATION.id}/service/${STAGING}`,
    `target/${US.id}/service/${US_STAGING}`,
  ]);
});

test('an organization that does not answer stops no other one, and lists name it', async () => {
  const sandbox = await started();
  const before = await sandbox.ask(ANA, '/service list', '24 services');
  expect(textOf(before)).toContain('prod-us/analytics-prod');
  for (const operation of sandbox.other.operations)
    sandbox.other.injectFault({ operation, fault: 'reset', times: 10_000 });
  sandbox.clock.now = new Date(sandbox.clock.now.getTime() + 61_000);
  const list = await sandbox.ask(ANA, '/service list', 'cannot be read');
  expect(textOf(list)).toMatch(
    /prod-us cannot be read: [^"]*\. Its values are those of the latest/,
  );
  expect(textOf(list)).not.toContain('prod-eu cannot be read');
  expect(list.text).toContain('24 services');
  expect(list.text).toMatch(/prod-us\/analytics-prod · running .*12:00:00/);
  expect(list.text).toMatch(/prod-eu\/analytics-prod · running .*12:01:01/);
  await sandbox.slack.command(
    ANA,
    'ops',
    '/service stop staging organization=prod-eu for the night',
  );
  await confirmStop(sandbox, 'prod-eu/staging');
  expect(stops(sandbox)).toEqual([1, 0]);
});

test('a revert and the run of a schedule are sent to the organization of the service', async () => {
  const sandbox = await started();
  await sandbox.slack.command(ANA, 'ops', '/service stop prod-us/staging for=4h for the night');
  await confirmStop(sandbox, 'prod-us/staging');
  setTime(sandbox, '16:01');
  await cardAfterRetries(sandbox, 'prod-us/staging is starting');
  expect(stops(sandbox)).toEqual([0, 2]);
  // A run is skipped where a person changed the service on that day.
  const dev = US.services.find(({ name }) => name === 'analytics-dev');
  const line = '/service schedule prod-us/analytics-dev stop="weekdays 20:00" zone=UTC';
  await sandbox.confirm(
    ANA,
    `${line} start="weekdays 21:00" saves credits`,
    'Schedule prod-us/analytics-dev?',
  );
  const card = await sandbox.card('requests: schedule prod-us/analytics-dev');
  await sandbox.press(BEN, card, 'change.approve');
  await sandbox.card('prod-us/analytics-dev is scheduled');
  setTime(sandbox, '20:01');
  const pass = timeInSteps(sandbox, 11_000);
  const run = () => {
    pass();
    return sandbox.other.effectCount('set state', dev?.id);
  };
  await expect.poll(run).toBe(1);
  expect(sandbox.cloud.effectCount('set state')).toBe(0);
});

test('a service is created in the organization that is named, and what is missing is asked', async () => {
  const sandbox = await started();
  const line = '/service create "shop" provider=aws region=eu-west-1 ip=10.0.0.0/8 min=16 max=32';
  await sandbox.slack.command(ANA, 'ops', line);
  await sandbox.modal(ANA, 'service.create');
  const [form] = sandbox.slack.clientState(ANA).views;
  expect(JSON.stringify(form)).toMatch(/"Organization".*prod-eu.*prod-us/);
  await sandbox.confirm(ANA, `${line} organization=prod-us`, 'prod-us/shop');
  const card = await sandbox.card('prod-us/shop');
  await sandbox.press(BEN, card, 'change.approve');
  await cardAfterRetries(sandbox, 'prod-us/shop is being created');
  expect(sandbox.other.effectCount('create service')).toBe(1);
  expect(sandbox.cloud.effectCount('create service')).toBe(0);
});

test('a rule for an organization decides there only', async () => {
  const strict = {
    ...{ allow: ['service stop'], on: { organizations: ['prod-us'] }, to: 'operator' },
    ...{ approvals: { from: 'approver', count: 3 } },
  };
  const sandbox = await started('file::memory:', ({ policy }) => ({ policy: [strict, ...policy] }));
  const us = await sandbox.ask(ANA, '/service stop prod-us/staging', 'Stop prod-us/staging?');
  expect(us.text).toContain('3 of @db-leads');
  const eu = await sandbox.ask(ANA, '/service stop prod-eu/staging', 'Stop prod-eu/staging?');
  expect(eu.text).toContain('1 of @db-leads');
});

test('changes made elsewhere are named in each organization, also while another one does not answer', async () => {
  const sandbox = await started();
  const named = () =>
    sandbox.slack
      .messages('db-audit')
      .map(textOf)
      .filter((text) => text.includes('Not made with Signalbox'));
  const later = () => sandbox.pass(60_000);
  /** Two more readings of an organization; the second one begins when the first is recorded. */
  const readings = async ({ count }: Pick<TestSandbox['cloud'], 'count'>) => {
    const before = count('list activities');
    const counted = () => {
      later();
      return count('list activities') - before;
    };
    await expect.poll(counted).toBeGreaterThanOrEqual(2);
  };
  await readings(sandbox.cloud);
  await readings(sandbox.other);
  sandbox.other.injectFault({ operation: 'list activities', fault: '500', times: 10_000 });
  sandbox.cloud.scaleInConsole(STAGING, { minReplicaMemoryGb: 24 }, 'Mara');
  sandbox.other.scaleInConsole(US_STAGING, { minReplicaMemoryGb: 24 }, 'Mara');
  await readings(sandbox.cloud);
  await expect.poll(() => named()).toHaveLength(1);
  expect(named()[0]).toContain('Memory scaled in the console by mara@example.com: prod-eu/staging');
  sandbox.other.clearFaults();
  const all = () => {
    later();
    return named().join('\n');
  };
  await expect.poll(all).toContain('prod-us/staging');
});
