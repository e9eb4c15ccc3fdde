import { expect, test } from 'vitest';
import {
  approve,
  CREATE,
  ENDPOINT,
  passUntil,
  SCALE,
  START,
  STOP,
  startExtended,
} from '../harness/following.ts';
import { textOf } from '../harness/messages.ts';
import { accepted, STAGING, subjectOf, threadText } from '../harness/requests.ts';
import { startTestSandbox } from '../harness/test-sandbox.ts';
import { emptyUrl } from '../storage/engines.ts';

const STOPPED = 'staging is stop';

test('an accepted stop is followed to its end and reported once, also across a restart', async () => {
  const sandbox = await startExtended({ databaseUrl: await emptyUrl('sqlite') });
  await approve(sandbox, STOP, 'Stop staging');
  const stopping = await passUntil(sandbox, STOPPED, 'Last seen: stopping (');
  expect(textOf(stopping)).not.toContain('does not report');
  await sandbox.restart();
  await passUntil(sandbox, 'staging is stopped', 'Last seen: stopped (');
  await expect.poll(() => threadText(sandbox, stopping.ts)).toContain('“stop staging” is done');
  // Once in the text and once in the blocks of one message.
  expect(threadText(sandbox, stopping.ts).match(/is done/g)).toHaveLength(2);
});

test.for<[string, string, string, readonly string[]]>([
  ['start', START, 'Start archive', ['Last seen: starting (', 'Last seen: running (']],
  ['scale', SCALE, 'Scale staging', ['saved, not in effect yet', 'all values are in effect']],
  ['new service', CREATE, 'Create service analytics new', ['provisioning', 'Last seen: running (']],
  [
    'new endpoint',
    ENDPOINT,
    'Create endpoint for staging',
    ['Last seen: provisioning (', 'pending acceptance', 'Last seen: ready ('],
  ],
])('an accepted %s is followed to its end', async ([, line, title, stages]) => {
  const sandbox = await startExtended();
  await approve(sandbox, line, title);
  for (const words of stages) await passUntil(sandbox, `${subjectOf(title)} is `, words);
  const { ts } = await passUntil(sandbox, `${subjectOf(title)} is `, stages.at(-1) ?? '');
  await expect.poll(() => threadText(sandbox, ts)).toContain('is done');
});

test('with cloud.reads: contract no accepted change is read', async () => {
  const sandbox = await startTestSandbox();
  for (const [line, title] of [
    [ENDPOINT, 'Create endpoint for staging'],
    [STOP, 'Stop staging'],
    [START, 'Start archive'],
    [SCALE, 'Scale staging'],
    [CREATE, 'Create service analytics new'],
  ] as const) {
    await approve(sandbox, line, title);
    const card = textOf(await sandbox.card(accepted(title)));
    expect(card).not.toContain('checked every');
    if (line !== ENDPOINT) expect(card).toContain('This API does not report when');
  }
  const before = sandbox.cloud.count('usage cost');
  sandbox.pass(3_600_000);
  await expect.poll(() => sandbox.cloud.count('usage cost')).toBeGreaterThan(before);
  expect(sandbox.cloud.count('get service') + sandbox.cloud.count('get endpoint')).toBe(0);
});

test('a service that fails after an accepted start is reported as failed', async () => {
  const sandbox = await startExtended();
  sandbox.cloud.behave({ startsEnd: 'failed' });
  await approve(sandbox, START, 'Start archive');
  const { ts } = await passUntil(
    sandbox,
    'Start archive: accepted, then failed',
    'Last seen: failed (',
  );
  await expect.poll(() => threadText(sandbox, ts)).toContain('was accepted and then failed');
});

test.for<[string, string, string, string]>([
  ['fails and is refused', '503', '403', 'no permission to read it (403)'],
  ['has a wrong shape and is not found', 'read-wrong-shape', 'read-404', 'does not find it'],
])('while the read %s, the card says what is unknown', async ([, passing, lasting, words]) => {
  const sandbox = await startExtended();
  const fails = (fault: string) => {
    sandbox.cloud.clearFaults();
    sandbox.cloud.injectFault({ operation: 'get service', fault, times: 1_000 });
  };
  await approve(sandbox, STOP, 'Stop staging');
  await passUntil(sandbox, STOPPED, 'checked every');
  fails(passing);
  await passUntil(sandbox, STOPPED, 'unknown: ', 1_000);
  fails(lasting);
  await passUntil(sandbox, STOPPED, words, 1_000);
  expect(sandbox.cloud.effectCount('set state', STAGING)).toBe(1);
});

test('three replicas read a target as often as one, and report once', async () => {
  const sandbox = await startExtended({ databaseUrl: await emptyUrl('postgres') });
  const others = [await sandbox.replica(), await sandbox.replica()];
  await approve(sandbox, STOP, 'Stop staging');
  await passUntil(sandbox, STOPPED, 'Last seen: stopping (');
  const before = sandbox.cloud.count('get service');
  const from = sandbox.clock.now.getTime();
  for (const { wake } of others) wake();
  const { ts } = await passUntil(sandbox, 'staging is stopped', 'Last seen: stopped (', 10_000);
  const passedS = (sandbox.clock.now.getTime() - from) / 1_000;
  // One read at the begin of the time, and one after each ten seconds of it.
  expect(sandbox.cloud.count('get service') - before).toBeLessThanOrEqual(1 + passedS / 10);
  await expect.poll(() => threadText(sandbox, ts)).toContain('is done');
  expect(threadText(sandbox, ts).match(/is done/g)).toHaveLength(2);
});
