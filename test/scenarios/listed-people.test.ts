import { expect, test } from 'vitest';
import { largeWorkspace } from '../../sandbox/slack/workspace/large-workspace.ts';
import { requestAndApprove } from '../harness/requests.ts';
import { startTestSandbox, type TestSandbox } from '../harness/test-sandbox.ts';
import { ANA, BEN, CLEO, GUS } from '../harness/users.ts';
import { emptyUrl } from '../storage/engines.ts';

const WORKSPACE = largeWorkspace(0, 10_000);
const LISTED = Array.from({ length: 200 }, (_, n) => `U1${String(n * 50).padStart(8, '0')}`);

/** Roles that list these people as well, each one in two roles; no role names a user group. */
const listing = (people: readonly string[]) => (file: object) => ({
  ...file,
  roles: {
    viewer: { users: [ANA, BEN, CLEO, GUS, ...people] },
    operator: { users: [ANA, ...people] },
    approver: { users: [BEN, CLEO, GUS] },
    oncall: { users: [ANA] },
  },
});

async function sandboxListing(people: readonly string[]): Promise<TestSandbox> {
  return startTestSandbox({
    databaseUrl: await emptyUrl('sqlite'),
    workspace: WORKSPACE,
    rateLimits: 'hard',
    waitsPass: true,
    yaml: listing(people),
  });
}

function callsOf({ slack }: TestSandbox, method: string) {
  const statuses = slack.calls(method).map(({ status }) => status);
  return { made: statuses.length, limited: statuses.filter((status) => status === 429).length };
}

test('a start with 200 listed people reads each one once and stays within the tiers', async () => {
  const sandbox = await sandboxListing(LISTED);
  expect(sandbox.started.ok).toBe(true);
  expect(callsOf(sandbox, 'users.list')).toEqual({ made: 10, limited: 0 });
  expect(callsOf(sandbox, 'users.info')).toEqual({ made: 0, limited: 0 });
  await requestAndApprove(sandbox, '/service stop staging for the night');
  await sandbox.card('staging is stopping');
});

test('a start with few listed people reads each one once and no list', async () => {
  const sandbox = await sandboxListing(LISTED.slice(0, 26));
  expect(sandbox.started.ok).toBe(true);
  expect(callsOf(sandbox, 'users.list')).toEqual({ made: 0, limited: 0 });
  expect(callsOf(sandbox, 'users.info')).toEqual({ made: 30, limited: 0 });
});

test('a start names each of many listed people whom Slack does not know', async () => {
  const { started } = await sandboxListing([...LISTED, 'U0MISSING1', 'U0MISSING2']);
  expect(started).toMatchObject({ ok: false, lasting: true });
  const problems = started.ok ? [] : started.problems.map(({ problem }) => problem);
  const missing = ['U0MISSING1', 'U0MISSING2'].map((id) => `Slack has no user with the id ${id}`);
  expect(problems).toEqual([...missing, ...missing]);
});

test('three starts in one minute wait for the limit of the list once', async () => {
  const sandbox = await sandboxListing(LISTED);
  const before = sandbox.clock.now.getTime();
  await sandbox.restart();
  await sandbox.restart();
  expect(callsOf(sandbox, 'users.list')).toEqual({ made: 31, limited: 1 });
  expect(sandbox.clock.now.getTime() - before).toBeLessThanOrEqual(60_000);
});

test.for(['users.list', 'users.info', 'usergroups.list'])(
  'a start waits when Slack limits %s',
  async (method) => {
    const people = method === 'users.list' ? LISTED : [];
    const sandbox = await sandboxListing(people);
    await sandbox.down();
    sandbox.slack.failNext({ method, times: 2, how: 'rate-limited' });
    const withGroup = (file: object) => {
      const { roles, ...rest } = listing(people)(file);
      return { ...rest, roles: { ...roles, oncall: { groups: ['@db-leads'] } } };
    };
    await sandbox.restart(withGroup);
    expect(callsOf(sandbox, method).limited).toBe(2);
  },
);

test('a start continues after 90 s without the check of listed people', async () => {
  const sandbox = await sandboxListing(LISTED);
  await sandbox.down();
  const before = sandbox.clock.now.getTime();
  sandbox.slack.failNext({ method: 'users.list', times: 99, how: 'rate-limited' });
  await sandbox.restart();
  expect(sandbox.clock.now.getTime() - before).toBeLessThanOrEqual(90_000);
  await requestAndApprove(sandbox, '/service stop staging for the night');
  await sandbox.card('staging is stopping');
});
