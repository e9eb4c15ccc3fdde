import { writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import {
  freePlanWorkspace,
  sandboxWorkspace,
} from '../../sandbox/slack/workspace/sandbox-workspace.ts';
import type { Group, Workspace } from '../../sandbox/slack/workspace/workspace.ts';
import { withPeople } from '../harness/config.ts';
import { requestChange } from '../harness/requests.ts';
import { startTestSandbox } from '../harness/test-sandbox.ts';
import { ANA, BEN } from '../harness/users.ts';
import { freshUrl } from '../storage/engines.ts';

function withGroup(handle: string, change: Partial<Group> | null): Workspace {
  const groups = sandboxWorkspace.groups.flatMap((group) => {
    if (group.handle !== handle) return [group];
    return change === null ? [] : [{ ...group, ...change }];
  });
  return { ...sandboxWorkspace, groups };
}

test.for<[string, Workspace, string]>([
  ['does not exist', withGroup('db-leads', null), 'no user group @db-leads'],
  ['is disabled', withGroup('db-leads', { disabled: true }), '@db-leads is disabled'],
  ['is empty', withGroup('db-leads', { users: [] }), 'approver'],
  ['contains only the requester', soleOperator(), 'approv'],
  ['has one member where two must approve', withGroup('db-leads', { users: [BEN] }), '2'],
])('the start is refused when a group %s', async ([, workspace, words]) => {
  const { started } = await startTestSandbox({ workspace });
  expect(started.ok).toBe(false);
  if (!started.ok) expect(JSON.stringify(started.problems)).toContain(words);
});

function soleOperator(): Workspace {
  const groups = sandboxWorkspace.groups.map((group) =>
    group.handle === 'engineering' ? group : { ...group, users: [ANA] },
  );
  return { ...sandboxWorkspace, groups };
}

test('the start is refused for a user id that Slack does not know', async () => {
  const { started } = await startTestSandbox({
    yaml: (file) =>
      JSON.parse(
        JSON.stringify(file).replace('["@db-leads"]', '["@db-leads"],"users":["U0123ABCD"]'),
      ),
  });
  expect(started.ok).toBe(false);
  if (!started.ok)
    expect(JSON.stringify(started.problems)).toContain('Slack has no user with the id U0123ABCD');
});

test('the free plan of Slack is enough where all roles list people', async () => {
  const workspace = freePlanWorkspace;
  const sandbox = await startTestSandbox({ workspace, yaml: withPeople });
  await sandbox.press(BEN, await requestChange(sandbox), 'change.approve');
  await sandbox.card('Stop staging: accepted');
  expect(sandbox.slack.calls('usergroups.list')).toEqual([]);
});

test('the start on the free plan is refused where a role names a group, with member ids as fix', async () => {
  const { started } = await startTestSandbox({ workspace: freePlanWorkspace });
  expect(started).toMatchObject({
    ok: false,
    lasting: true,
    problems: [
      {
        where: 'roles',
        problem: 'this Slack plan has no user groups',
        hint: expect.stringContaining('list people by their member ids'),
      },
    ],
  });
});

test('the whole approval flow works with Socket Mode', async () => {
  const sandbox = await startTestSandbox({ delivery: 'socket' });
  await sandbox.press(BEN, await requestChange(sandbox), 'change.approve');
  await sandbox.card('Stop staging: accepted');
  expect(sandbox.cloud.count('set state')).toBe(1);
});

test('a start waits while Slack limits new Socket Mode connections', async () => {
  const databaseUrl = await freshUrl('sqlite');
  const sandbox = await startTestSandbox({ delivery: 'socket', databaseUrl });
  await sandbox.down();
  // The check of the token, then the first connection.
  sandbox.slack.failNext({ method: 'apps.connections.open', times: 2, how: 'rate-limited' });
  await sandbox.restart();
  expect(sandbox.slack.connections()).toBeGreaterThan(0);
});

test('a start ends for good when Slack refuses the app token after a rate limit', async () => {
  const databaseUrl = await freshUrl('sqlite');
  const sandbox = await startTestSandbox({ delivery: 'socket', databaseUrl });
  await sandbox.down();
  const method = 'apps.connections.open';
  sandbox.slack.failNext({ method, times: 1, how: 'rate-limited' });
  sandbox.slack.failNext({ method, times: 9, how: { error: 'invalid_auth' } });
  expect(await sandbox.refusedRestart()).toMatchObject({
    lasting: true,
    problems: [{ where: 'SLACK_APP_TOKEN', problem: expect.stringContaining('invalid_auth') }],
  });
});

test('health and readiness have separate endpoints', async () => {
  const sandbox = await startTestSandbox();
  expect((await fetch(`${sandbox.url}/healthz`)).status).toBe(200);
  expect((await fetch(`${sandbox.url}/readyz`)).status).toBe(200);
});

test.for([
  ['a file that is not a database', 'The file is not a Signalbox database'],
  ['a server that does not answer', 'Check that the server of DATABASE_URL is running.'],
])('the start is refused with a hint for %s', async ([what = '', sentence = '']) => {
  const { started } = await startTestSandbox({ databaseUrl: await unusable(what) });
  expect(started.ok).toBe(false);
  if (!started.ok) {
    expect(started.problems).toHaveLength(1);
    expect(started.problems[0]?.where).toBe('DATABASE_URL');
    expect(started.problems[0]?.problem).toContain(sentence);
  }
});

async function unusable(what: string): Promise<string> {
  if (what.startsWith('a server')) return 'postgres://nobody:none@127.0.0.1:1/none';
  const url = await freshUrl('sqlite');
  writeFileSync(fileURLToPath(url), 'a letter, not a database '.repeat(100));
  return url;
}
