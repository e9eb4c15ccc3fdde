import { expect, test } from 'vitest';
import { CLOUD_KEY } from '../../sandbox/seed/organization.ts';
import { textOf } from '../harness/messages.ts';
import { timeInSteps } from '../harness/passing-time.ts';
import {
  accepted,
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

const LOAD_TEST = 'e9549d7a-e406-489d-aabe-f8aaea52111d';
const MINUTE = 60_000;
const RULE = {
  allow: ['service stop', 'service start', 'service scale'],
  on: { tags: ['env=staging'] },
  to: 'operator',
  approvals: { from: 'approver', count: 1 },
  discovered: 'allowed',
};

/** The file of the sandbox with extended reads, without staging, and with this rule before the last ones. */
function withoutStaging(rule: object = RULE, more: object = {}) {
  return ((file: File) => ({
    ...file,
    cloud: { reads: 'extended', tags: ['env=staging'] },
    services: file.services.filter(({ id }) => id !== STAGING),
    policy: [...file.policy.slice(0, 2), rule, ...file.policy.slice(2)],
    ...more,
  })) as never;
}

/** Starts the bot and waits until it has read the list of services. */
async function startDiscovering(yaml = withoutStaging(), change?: (sandbox: TestSandbox) => void) {
  const sandbox = await startTestSandbox({ yaml });
  change?.(sandbox);
  await rediscover(sandbox);
  return sandbox;
}

/** Lets time pass until the list of services is read again. */
async function rediscover(sandbox: TestSandbox) {
  const before = sandbox.cloud.count('list services');
  sandbox.pass(MINUTE + 1_000);
  // The usage report may have used up the request budget: the list is read again after 15 s.
  const pass = timeInSteps(sandbox, 16_000);
  await expect
    .poll(() => {
      pass();
      return sandbox.cloud.count('list services');
    })
    .toBeGreaterThan(before);
  await waitUntilIdle(sandbox);
}

/** Lets time pass, also for the request budget, until the server has received the change. */
async function isSent(sandbox: TestSandbox, operation = 'set state') {
  const pass = timeInSteps(sandbox, 5_000);
  await expect
    .poll(() => {
      pass();
      return sandbox.cloud.effectCount(operation, STAGING);
    })
    .toBe(1);
}

const STOP = '/service stop staging for the night';
const NOT_LISTED = '“staging” is not in signalbox.yaml, and the policy does not allow this for';
const NOT_VERIFIED = 'Signalbox could not verify “staging”: the server did not return';

type Change = [line: string, title: string, operation: string];
const START: Change = ['/service start staging again', 'Start staging', 'set state'];
const SCALE: Change = ['/service scale staging max=64 "month end"', 'Scale staging', 'scale'];

test.for<[...Change, state?: 'stopped']>([
  [STOP, 'Stop staging', 'set state'],
  [...START, 'stopped'],
  SCALE,
])(
  'a discovered service is changed under a rule that covers its tag of the server: %s',
  async ([line, title, operation, state]) => {
    const sandbox = await startDiscovering(withoutStaging(), ({ cloud }) => {
      if (state) cloud.setServiceState(STAGING, state);
    });
    const card = await requestChange(sandbox, ANA, line);
    expect(textOf(card)).toContain('env=staging');
    expect(textOf(card)).toContain('not in signalbox.yaml');
    const reads = sandbox.cloud.count('list services');
    await sandbox.press(BEN, card, 'change.approve');
    await isSent(sandbox, operation);
    await sandbox.card(accepted(title));
    expect(sandbox.cloud.count('list services')).toBeGreaterThan(reads);
  },
);

test('a discovered service is refused under a rule that covers its tag but does not allow it', async () => {
  const sandbox = await startDiscovering(withoutStaging({ ...RULE, discovered: 'refused' }));
  await sandbox.answer(ANA, STOP, NOT_LISTED);
  expect(sandbox.slack.messages('db-approvals')).toHaveLength(0);
});

test('a service without tags in the list is refused, because they are unknown', async () => {
  const sandbox = await startDiscovering(withoutStaging(), ({ cloud }) =>
    cloud.editInConsole(STAGING, { tags: null as never }),
  );
  await sandbox.answer(ANA, STOP, NOT_VERIFIED);
});

test('queries name discovered services, for users whose role allows the query', async () => {
  const sandbox = await startDiscovering(withoutStaging({ ...RULE, discovered: 'refused' }));
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

test('an impostor with a configured name never takes its place', async () => {
  const sandbox = await startDiscovering(withoutStaging(), ({ cloud }) =>
    cloud.editInConsole(STAGING, { name: 'analytics-prod' }),
  );
  const preview = await sandbox.answer(
    ANA,
    '/service stop analytics-prod again',
    'Stop analytics-prod?',
  );
  // The tags and the warehouse of the file: the impostor has neither.
  expect(preview).toMatch(/^prod · .* · warehouse main$/m);
  await sandbox.answer(ANA, `/service stop ${STAGING} again`, 'Stop analytics-prod (1525c708)?');
});

test('a name that two discovered services share is refused with their ids', async () => {
  const both = withoutStaging();
  const file = ((all: File) => {
    const edited = (both as unknown as (file: File) => File)(all);
    return { ...edited, services: edited.services.filter(({ id }) => id !== LOAD_TEST) };
  }) as never;
  const sandbox = await startDiscovering(file, ({ cloud }) =>
    cloud.editInConsole(LOAD_TEST, { name: 'staging' }),
  );
  const text = await sandbox.answer(ANA, STOP, '2 services are called “staging”');
  expect(text).toContain('staging (1525c708)');
  expect(text).toContain('staging (e9549d7a)');
  expect(sandbox.slack.messages('db-approvals')).toHaveLength(0);
});

test('hostile markup in a discovered name mentions nobody', async () => {
  const sandbox = await startDiscovering(withoutStaging(), ({ cloud }) =>
    cloud.editInConsole(STAGING, { name: '<!channel> <@U0BEN00001> *x*' }),
  );
  await sandbox.answer(ANA, `/service stop ${STAGING} for the night`, 'Stop ');
  await sandbox.press(ANA, await sandbox.privateMessage(ANA, 'Stop '), 'change.confirm');
  const card = await sandbox.card('requests: ');
  expect(card?.text).not.toMatch(/<!(?!date)/);
  const posted = sandbox.slack.mentions().filter(({ via }) => via === 'post');
  expect(posted.map(({ kind }) => kind)).not.toContain('channel');
  expect(posted.map(({ target }) => target)).not.toContain(BEN);
});

/** An approved stop of staging that is due in an hour. */
async function scheduled(sandbox: TestSandbox) {
  await requestAndApprove(sandbox, '/service stop staging in=1h for the night');
  await sandbox.card('Stop staging: approved');
}

async function isNotRun(sandbox: TestSandbox, why: string) {
  await expectCardText(sandbox, 'Stop staging: not run', why);
  expect(sandbox.cloud.effectCount('set state', STAGING)).toBe(0);
}

const LIST = 'list services';

/** Every further read of the list has this fault. */
function brokenList(fault: string) {
  return ({ cloud }: TestSandbox) => cloud.injectFault({ operation: LIST, fault, times: 999 });
}

test.for<[string, (sandbox: TestSandbox) => void]>([
  ['is refused (403)', ({ cloud }) => cloud.setKey(CLOUD_KEY.id, { denied: [LIST] })],
  ['is not answered', brokenList('503')],
  ['is empty', brokenList('read-empty-list')],
])(
  'an approved change does not run if the list of services %s right before sending',
  async ([, fail]) => {
    const sandbox = await startDiscovering();
    await scheduled(sandbox);
    fail(sandbox);
    setTime(sandbox, '13:05');
    const pass = timeInSteps(sandbox, 10_000);
    await expect
      .poll(async () => {
        pass();
        return sandbox.slack.messages('db-approvals').map(textOf).join('\n');
      })
      .toContain('Stop staging: not run');
    await isNotRun(sandbox, NOT_VERIFIED);
  },
);

test('an approved change does not run by a list that was read a minute before', async () => {
  const sandbox = await startDiscovering();
  const card = await requestChange(sandbox);
  brokenList('read-wrong-shape')(sandbox);
  const began = sandbox.clock.now.getTime();
  await sandbox.press(BEN, card, 'change.approve');
  const pass = timeInSteps(sandbox, 5_000);
  await expect
    .poll(() => {
      pass();
      return sandbox.slack.messages('db-approvals').map(textOf).join('\n');
    })
    .toContain('Stop staging: not run');
  await isNotRun(sandbox, NOT_VERIFIED);
  // The directory still counts that list, so that only the read before sending stopped the change.
  expect(sandbox.clock.now.getTime() - began).toBeLessThan(9 * MINUTE);
});

test('an approved change runs when the list of services returns within two minutes', async () => {
  const sandbox = await startDiscovering();
  const card = await requestChange(sandbox);
  const wrong = { operation: LIST, fault: 'read-wrong-shape', times: 1 };
  sandbox.cloud.injectFault(wrong);
  await sandbox.press(BEN, card, 'change.approve');
  await isSent(sandbox);
  expect(sandbox.cloud.requests().filter((one) => one.fault !== null)).toHaveLength(1);
});

test('an approved change does not run if its tag was removed on the server', async () => {
  const sandbox = await startDiscovering();
  await scheduled(sandbox);
  sandbox.cloud.editInConsole(STAGING, { tags: [] });
  setTime(sandbox, '13:05');
  await isNotRun(sandbox, 'The tags or the warehouse of staging changed or are unknown now');
});

test('an approval waits while the tags of the server are unknown, and counts afterwards', async () => {
  const sandbox = await startDiscovering();
  const card = await requestChange(sandbox);
  sandbox.cloud.injectFault({ operation: LIST, fault: 'read-wrong-shape', times: 99 });
  sandbox.clock.now = new Date(sandbox.clock.now.getTime() + 11 * MINUTE);
  await sandbox.press(BEN, card, 'change.approve');
  await sandbox.privateMessage(BEN, NOT_VERIFIED);
  sandbox.cloud.clearFaults();
  await rediscover(sandbox);
  await sandbox.press(BEN, await sandbox.card('requests: stop staging'), 'change.approve');
  await isSent(sandbox);
});

test('a draft is not confirmed after its tag was removed on the server', async () => {
  const sandbox = await startDiscovering();
  const preview = await sandbox.ask(ANA, STOP, 'Stop staging?');
  sandbox.cloud.editInConsole(STAGING, { tags: [] });
  await rediscover(sandbox);
  await sandbox.press(ANA, preview, 'change.confirm');
  await sandbox.privateMessage(ANA, 'The tags or the warehouse of staging changed');
  expect(sandbox.slack.messages('db-approvals')).toHaveLength(0);
});

test('a configured service that is removed from the file needs the permission for discovered ones', async () => {
  const listed = ((file: File) => ({ ...file, cloud: { reads: 'extended' } })) as never;
  const sandbox = await startDiscovering(listed);
  await scheduled(sandbox);
  expect(await sandbox.reload(withoutStaging({ ...RULE, discovered: 'refused' }))).toEqual({
    ok: true,
  });
  setTime(sandbox, '13:05');
  await isNotRun(sandbox, 'The tags or the warehouse of staging changed or are unknown now');
});

test('a configured service is changed as before while the list of services is refused', async () => {
  const extended = ((file: File) => ({ ...file, cloud: { reads: 'extended' } })) as never;
  const sandbox = await startTestSandbox({ yaml: extended });
  sandbox.cloud.setKey(CLOUD_KEY.id, { denied: [LIST] });
  await requestAndApprove(sandbox, STOP);
  await cardAfterRetries(sandbox, 'staging is stopping');
});

test('without an answer the list of services says what is unknown', async () => {
  const sandbox = await startDiscovering(withoutStaging());
  sandbox.cloud.setKey(CLOUD_KEY.id, { denied: [LIST] });
  sandbox.clock.now = new Date(sandbox.clock.now.getTime() + 2 * MINUTE);
  const list = await sandbox.answer(ANA, '/service list', 'The list of services is unknown');
  expect(list).toContain('the API key has no permission to read it (403)');
});

test('/change who explains discovered services', async () => {
  const sandbox = await startDiscovering();
  const who = await sandbox.answer(
    ANA,
    '/change who service stop staging',
    'Who may use /service stop',
  );
  expect(who).toContain(
    'staging is not listed in signalbox.yaml. On the server it is tagged env=staging, in warehouse lab',
  );
  expect(who).toContain('Services that are not in signalbox.yaml: allowed');
});

test('/change who says that a rule does not allow discovered services', async () => {
  const sandbox = await startDiscovering(withoutStaging({ ...RULE, discovered: 'refused' }));
  const who = await sandbox.answer(
    ANA,
    '/change who service stop staging',
    'Who may use /service stop',
  );
  expect(who).toContain('Services that are not in signalbox.yaml: not allowed by this rule');
  expect(who).toContain('You: refused: this service is not in signalbox.yaml.');
});
