import { expect, test } from 'vitest';
import { textOf } from '../harness/messages.ts';
import { NO_MESSAGE, STAGING, threadText } from '../harness/requests.ts';
import {
  startTestSandbox,
  type TestSandbox,
  type TestSandboxOptions,
} from '../harness/test-sandbox.ts';
import { ANA, BEN } from '../harness/users.ts';
import { ENGINES, freshUrl } from '../storage/engines.ts';

type Yaml = Record<string, never>;
const EXTENDED = (file: Yaml) => ({ ...file, cloud: { reads: 'extended' } });
const STOP = '/service stop staging for the night';
const STOPPED = 'Stop staging: accepted';
const START = '/service start archive "for the audit"';
const SCALE = '/service scale staging min=16 max=64 "night saving"';
const CREATE =
  '/service create "analytics new" provider=aws region=eu-west-1 ip=10.0.0.0/8 min=16 max=32 "a market"';
const ENDPOINT =
  '/endpoint create staging type=VPC_ENDPOINT_SERVICE service-name=vpce-svc-1 description=orders "feed"';

const startExtended = (options: TestSandboxOptions = {}) =>
  startTestSandbox({ yaml: EXTENDED, ...options });

/** Lets the time pass in steps until a card with this title has these words; returns its text. */
async function passUntil(sandbox: TestSandbox, title: string, words: string, stepMs = 5_000) {
  const card = () =>
    sandbox.slack
      .messages('db-approvals')
      .findLast(({ threadTs, text }) => !threadTs && text.includes(title));
  await expect
    .poll(
      () => {
        sandbox.clock.now = new Date(sandbox.clock.now.getTime() + stepMs);
        sandbox.wake();
        return textOf(card() ?? NO_MESSAGE);
      },
      { interval: 50, timeout: 25_000 },
    )
    .toContain(words);
  return card() ?? { ...NO_MESSAGE, channel: '', ts: '' };
}

/** Requests and approves a change with this preview title. */
async function approve(sandbox: TestSandbox, line: string, title: string): Promise<void> {
  await sandbox.slack.command(ANA, 'ops', line);
  await sandbox.press(ANA, await sandbox.privateMessage(ANA, `${title}?`), 'change.confirm');
  await sandbox.press(BEN, await sandbox.card(`${title}: waiting`), 'change.approve');
}

test.for(ENGINES)(
  'an accepted stop is followed to its end and reported once (%s)',
  async (engine) => {
    const sandbox = await startExtended({ databaseUrl: await freshUrl(engine) });
    await approve(sandbox, STOP, 'Stop staging');
    const stopping = await passUntil(sandbox, STOPPED, 'stopping, since');
    expect(textOf(stopping)).not.toContain('does not report');
    await passUntil(sandbox, STOPPED, 'stopped, since');
    await expect.poll(() => threadText(sandbox, stopping.ts)).toContain('“stop staging” is done');
    // Once in the text and once in the blocks of one message.
    expect(threadText(sandbox, stopping.ts).match(/is done/g)).toHaveLength(2);
  },
);

test.for<[string, string, string, readonly string[]]>([
  ['start', START, 'Start archive', ['starting, since', 'running, since']],
  ['scale', SCALE, 'Scale staging', ['saved, not in effect yet', 'all values are in effect']],
  ['new service', CREATE, 'Create service analytics new', ['provisioning', 'running, since']],
  [
    'new endpoint',
    ENDPOINT,
    'Create endpoint for staging',
    ['provisioning, since', 'pending acceptance', 'ready, since'],
  ],
])('an accepted %s is followed to its end', async ([, line, title, stages]) => {
  const sandbox = await startExtended();
  await approve(sandbox, line, title);
  for (const words of stages) await passUntil(sandbox, `${title}: accepted`, words);
  const { ts } = await passUntil(sandbox, `${title}: accepted`, stages.at(-1) ?? '');
  await expect.poll(() => threadText(sandbox, ts)).toContain('is done');
});

test.for<[string, string, string]>([
  ['stop', STOP, 'Stop staging'],
  ['start', START, 'Start archive'],
  ['scale', SCALE, 'Scale staging'],
  ['new service', CREATE, 'Create service analytics new'],
  ['new endpoint', ENDPOINT, 'Create endpoint for staging'],
])('with cloud.reads: contract an accepted %s is not read', async ([what, line, title]) => {
  const sandbox = await startTestSandbox();
  await approve(sandbox, line, title);
  const card = textOf((await sandbox.card(`${title}: accepted`)) ?? NO_MESSAGE);
  expect(card).not.toContain('Server shows');
  if (what !== 'new endpoint') expect(card).toContain('This API does not report when');
  const before = sandbox.cloud.count('usage cost');
  sandbox.clock.now = new Date(sandbox.clock.now.getTime() + 3_600_000);
  sandbox.wake();
  await expect.poll(() => sandbox.cloud.count('usage cost')).toBeGreaterThan(before);
  expect(sandbox.cloud.count('get service') + sandbox.cloud.count('get endpoint')).toBe(0);
});

test('a service that fails after an accepted start is reported as failed', async () => {
  const sandbox = await startExtended();
  sandbox.cloud.behave({ startsEnd: 'failed' });
  await approve(sandbox, START, 'Start archive');
  const { ts } = await passUntil(sandbox, 'Start archive: accepted', 'failed, since');
  await expect.poll(() => threadText(sandbox, ts)).toContain('was accepted and then failed');
});

test.for<[string, string, string]>([
  ['refused', '403', 'no permission to read it (403)'],
  ['not found', 'read-404', 'does not find it'],
  ['an error of the server', '503', 'unknown: '],
  ['of a wrong shape', 'read-wrong-shape', 'unknown: '],
])('while the read is %s, the card says what is unknown', async ([, fault, words]) => {
  const sandbox = await startExtended();
  await approve(sandbox, STOP, 'Stop staging');
  await passUntil(sandbox, STOPPED, 'Server shows');
  sandbox.cloud.injectFault({ operation: 'get service', fault, times: 1_000 });
  await passUntil(sandbox, STOPPED, words, 1_000);
  expect(sandbox.cloud.effectCount('set state', STAGING)).toBe(1);
});

test('after a restart in between, the change is followed to its end', async () => {
  const sandbox = await startExtended({ databaseUrl: await freshUrl('sqlite') });
  await approve(sandbox, STOP, 'Stop staging');
  await passUntil(sandbox, STOPPED, 'stopping, since');
  await sandbox.restart();
  const { ts } = await passUntil(sandbox, STOPPED, 'stopped, since');
  await expect.poll(() => threadText(sandbox, ts)).toContain('“stop staging” is done');
});

test('three replicas read a target as often as one, and report once', async () => {
  const sandbox = await startExtended({ databaseUrl: await freshUrl('postgres') });
  const others = [await sandbox.replica(), await sandbox.replica()];
  await approve(sandbox, STOP, 'Stop staging');
  await passUntil(sandbox, STOPPED, 'stopping, since');
  const before = sandbox.cloud.count('get service');
  const from = sandbox.clock.now.getTime();
  for (const { wake } of others) wake();
  const { ts } = await passUntil(sandbox, STOPPED, 'stopped, since', 10_000);
  const passedS = (sandbox.clock.now.getTime() - from) / 1_000;
  expect(sandbox.cloud.count('get service') - before).toBeLessThanOrEqual(passedS / 10);
  await expect.poll(() => threadText(sandbox, ts)).toContain('is done');
  expect(threadText(sandbox, ts).match(/is done/g)).toHaveLength(2);
});
