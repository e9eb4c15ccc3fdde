import { expect, test } from 'vitest';
import { CLOUD_KEY } from '../../sandbox/seed/organization.ts';
import { textOf } from '../harness/messages.ts';
import { asTimePasses } from '../harness/passing-time.ts';
import {
  cardAfterRetries,
  expectCardText,
  requestAndApprove,
  requestChange,
  STAGING,
  setTime,
  waitUntilIdle,
} from '../harness/requests.ts';
import { startTestSandbox, type TestSandbox } from '../harness/test-sandbox.ts';
import { ANA, BEN, DORA } from '../harness/users.ts';

interface File {
  readonly services: readonly { readonly id: string; readonly name: string }[];
  readonly policy: readonly object[];
}

const LIST = 'list services';
const MINUTE = 60_000;
const RULE = {
  allow: ['service stop', 'service start', 'service scale'],
  on: { tags: ['env=staging'] },
  to: 'operator',
  approvals: { from: 'approver', count: 1 },
  discovered: 'allowed',
};

/** The file of the sandbox with extended reads, without staging, and with this rule before the last ones. */
function withoutStaging(rule: object = RULE) {
  return ((file: File) => ({
    ...file,
    cloud: { reads: 'extended', tags: ['env=staging'] },
    services: file.services.filter(({ id }) => id !== STAGING),
    policy: [...file.policy.slice(0, 2), rule, ...file.policy.slice(2)],
  })) as never;
}

const NOT_ALLOWED = withoutStaging({ ...RULE, discovered: 'refused' });

/** Starts the bot and waits until it has read the list of services. */
async function startDiscovering(yaml = withoutStaging()) {
  const sandbox = await startTestSandbox({ yaml });
  await rediscover(sandbox);
  return sandbox;
}

async function rediscover(sandbox: TestSandbox) {
  const before = sandbox.cloud.count(LIST);
  sandbox.pass(MINUTE + 1_000);
  // Time passes also for the request budget, which the usage report may have used up.
  const count = asTimePasses(sandbox, 16_000, () => sandbox.cloud.count(LIST));
  await expect.poll(count).toBeGreaterThan(before);
  await waitUntilIdle(sandbox);
}

const STOP = '/service stop staging for the night';
const NOT_LISTED = '“staging” is not in signalbox.yaml, and the policy does not allow this for';

test('a discovered service is changed under a rule that covers its tag of the server', async () => {
  const sandbox = await startDiscovering();
  const card = await requestChange(sandbox);
  expect(textOf(card)).toContain('env=staging');
  expect(textOf(card)).toContain('not in signalbox.yaml');
  const reads = sandbox.cloud.count(LIST);
  await sandbox.press(BEN, card, 'change.approve');
  // The request budget may be used up.
  const effects = () => sandbox.cloud.effectCount('set state', STAGING);
  await expect.poll(asTimePasses(sandbox, 5_000, effects)).toBe(1);
  await sandbox.card('staging is stopping');
  expect(sandbox.cloud.count(LIST)).toBeGreaterThan(reads);
});

test('a discovered service is refused under a rule that covers its tag but does not allow it', async () => {
  const sandbox = await startDiscovering(NOT_ALLOWED);
  await sandbox.answer(ANA, STOP, NOT_LISTED);
  expect(sandbox.slack.messages('db-approvals')).toHaveLength(0);
});

test('queries name discovered services, for users whose role allows the query', async () => {
  const sandbox = await startDiscovering(NOT_ALLOWED);
  expect(await sandbox.answer(DORA, '/service show staging', STAGING)).toContain('env=staging');
  const list = await sandbox.answer(DORA, '/service list', 'not listed, env=staging');
  expect(list).toContain('service show 1525c708');
});

test('the type-ahead of a form has discovered services, with the start of their ids', async () => {
  const sandbox = await startDiscovering();
  await sandbox.slack.command(ANA, 'ops', '/service stop');
  const place = { in: 'view', viewId: await sandbox.modal(ANA, 'service.stop') } as const;
  const search = { as: ANA, place, blockId: 'service', actionId: 'service', value: 'stag' };
  const { options } = await sandbox.slack.suggest(search);
  expect(JSON.stringify(options)).toContain('not listed · 1525c708');
});

async function isNotRun(sandbox: TestSandbox, why: string) {
  await expectCardText(sandbox, 'Stop staging: not run', why);
  expect(sandbox.cloud.effectCount('set state', STAGING)).toBe(0);
}

test('an approved change does not run by a list that was read a minute before', async () => {
  const sandbox = await startDiscovering();
  const card = await requestChange(sandbox);
  sandbox.cloud.injectFault({ operation: LIST, fault: 'read-wrong-shape', times: 999 });
  const began = sandbox.clock.now.getTime();
  await sandbox.press(BEN, card, 'change.approve');
  await cardAfterRetries(sandbox, 'Stop staging: not run');
  await isNotRun(sandbox, 'Signalbox could not verify “staging”: the server did not return');
  // The directory still counts that list, so that only the read before sending stopped the change.
  expect(sandbox.clock.now.getTime() - began).toBeLessThan(9 * MINUTE);
});

test('an approved change does not run if its tag was removed on the server', async () => {
  const sandbox = await startDiscovering();
  await requestAndApprove(sandbox, '/service stop staging in=1h for the night');
  await sandbox.card('Stop staging: approved');
  sandbox.cloud.editInConsole(STAGING, { tags: [] });
  setTime(sandbox, '13:05');
  await isNotRun(sandbox, 'The tags or the warehouse of staging changed or are unknown now');
});

test('without an answer the list of services says what is unknown', async () => {
  const sandbox = await startDiscovering();
  sandbox.cloud.setKey(CLOUD_KEY.id, { denied: [LIST] });
  sandbox.clock.now = new Date(sandbox.clock.now.getTime() + 2 * MINUTE);
  const list = await sandbox.answer(ANA, '/service list', 'The list of services is unknown');
  expect(list).toContain('the API key has no permission to read it (403)');
});

test('/change who says whether the rule allows discovered services', async () => {
  const sandbox = await startDiscovering();
  const line = '/change who service stop staging';
  const who = await sandbox.answer(ANA, line, 'Who may use /service stop');
  expect(who).toContain(
    'staging is not listed in signalbox.yaml. On the server it is tagged env=staging, in warehouse lab',
  );
  expect(who).toContain('Services that are not in signalbox.yaml: allowed');

  expect(await sandbox.reload(NOT_ALLOWED)).toEqual({ ok: true });
  await rediscover(sandbox);
  const refused = await sandbox.nextAnswer(ANA, line, 'not allowed by this rule');
  expect(refused).toContain('You: refused: this service is not in signalbox.yaml.');
});
