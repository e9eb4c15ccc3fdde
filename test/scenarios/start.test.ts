import { writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, onTestFinished, test } from 'vitest';
import { freePort } from '../../sandbox/free-port.ts';
import {
  freePlanWorkspace,
  sandboxWorkspace,
} from '../../sandbox/slack/workspace/sandbox-workspace.ts';
import type { Group, Workspace } from '../../sandbox/slack/workspace/workspace.ts';
import { createLog } from '../../src/base/log.ts';
import { withPeople } from '../harness/config.ts';
import { requestChange } from '../harness/requests.ts';
import { startTestSandbox } from '../harness/test-sandbox.ts';
import { ANA, BEN } from '../harness/users.ts';
import { emptyUrl } from '../storage/engines.ts';
import { type OwnServer, ownServer } from '../storage/postgres.ts';
import { expectAlert, read, readUntil } from './alert-faults.ts';

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

test('the free plan of Slack is enough where all roles list people', async () => {
  const workspace = freePlanWorkspace;
  const sandbox = await startTestSandbox({ workspace, yaml: withPeople });
  await sandbox.press(BEN, await requestChange(sandbox), 'change.approve');
  await sandbox.card('staging is stopping');
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
  await sandbox.card('staging is stopping');
  expect(sandbox.cloud.count('set state')).toBe(1);
});

test.for(['http', 'socket'] as const)(
  'a bot that is uninstalled while it runs (%s) is not ready, and says so in words',
  async (delivery) => {
    const lines: string[] = [];
    const log = createLog({ level: 'warn' }, { write: (line) => lines.push(line) });
    // In Socket Mode the port has only the probes.
    const env = { PORT: String(await freePort()) };
    const sandbox = await startTestSandbox({ log, delivery, env });
    const ready = () => fetch(`${sandbox.url}/readyz`);
    await expect.poll(async () => (await ready()).status).toBe(200);
    await sandbox.slack.admin.uninstall();
    await expect.poll(async () => (await ready()).status).toBe(503);
    expect(await (await ready()).text()).toContain('Reinstall to Workspace');
    const metrics = await (await fetch(`${sandbox.url}/metrics`)).text();
    expect(metrics).toContain('signalbox_slack_connected 0');
    // The second and the third time add no line.
    for (const user of [ANA, BEN, ANA]) await sandbox.slack.openHome({ as: user });
    const failed = { level: 40, user: ANA, what: 'event app_home_opened' };
    const reported = { level: 50, msg: expect.stringContaining('cannot act in Slack') };
    const about = /cannot act in Slack|Home|payload/;
    const logged = () => lines.map((line) => JSON.parse(line)).filter(({ msg }) => about.test(msg));
    await expect.poll(logged).toMatchObject([reported, failed]);
  },
);

test('a bot token that Slack revokes without an event is noticed within minutes, and people read it', async () => {
  const lines: string[] = [];
  const log = createLog({ level: 'info' }, { write: (line) => lines.push(line) });
  const env = { PORT: String(await freePort()) };
  const sandbox = await startTestSandbox({ env, log });
  const ready = () => fetch(`${sandbox.url}/readyz`);
  await expect.poll(async () => (await ready()).status).toBe(200);
  const before = await read(sandbox);
  sandbox.slack.admin.revokeToken(true);
  sandbox.pass(4 * 60_000);
  await expect.poll(async () => (await ready()).status).toBe(503);
  await sandbox.ask(
    ANA,
    '/service stop staging',
    'Signalbox is no longer installed in this workspace',
  );
  const during = await readUntil(sandbox, 'signalbox_slack_connected', 0);
  expectAlert('SignalboxSlackDisconnected', before, during);
  sandbox.slack.admin.revokeToken(false);
  sandbox.pass(4 * 60_000);
  await expect.poll(async () => (await ready()).status).toBe(200);
  const told = lines.filter((line) => line.includes('act in Slack'));
  expect(told.map((line) => JSON.parse(line).level)).toEqual([50, 30]);
});

test('the start is refused with a hint for a file that is not a database', async () => {
  const databaseUrl = await emptyUrl('sqlite');
  writeFileSync(fileURLToPath(databaseUrl), 'a letter, not a database '.repeat(100));
  const { started } = await startTestSandbox({ databaseUrl });
  expect(started).toMatchObject({
    ok: false,
    lasting: true,
    problems: [{ where: 'DATABASE_URL' }],
  });
  if (started.ok) return;
  expect(started.problems[0]?.problem).toContain('The file is not a Signalbox database');
});

/** A bot on its port whose start waits for a dependency that does not respond. */
async function waitingStart(databaseUrl: string, yaml?: (file: object) => unknown) {
  const lines: string[] = [];
  const log = createLog({ level: 'info' }, { write: (line) => lines.push(line) });
  const sleeps: number[] = [];
  const sleep = async (ms: number) => void sleeps.push(ms);
  const env = { PORT: String(await freePort()) };
  const sandbox = await startTestSandbox({ databaseUrl, log, sleep, env, ...(yaml && { yaml }) });
  await sandbox.down();
  const read = async (path: string) => {
    const answer = await fetch(`${sandbox.url}${path}`);
    return { status: answer.status, text: await answer.text() };
  };
  const logged = (words: string) => lines.filter((line) => line.includes(words));
  return { sandbox, sleeps, read, logged };
}

async function startServer(): Promise<OwnServer> {
  const server = await ownServer();
  onTestFinished(server.remove);
  await server.start();
  return server;
}

test.for(['Slack', 'PostgreSQL'])(
  'a start waits while %s does not respond, and proceeds by itself',
  async (what) => {
    const server = what === 'Slack' ? null : await startServer();
    const databaseUrl = server?.url ?? (await emptyUrl('sqlite'));
    const { sandbox, sleeps, read, logged } = await waitingStart(databaseUrl);
    const { slack } = sandbox;
    await server?.kill();
    slack.setReachable(server !== null);
    sleeps.length = 0;
    const restarted = sandbox.restart();
    await expect.poll(() => sleeps.length).toBeGreaterThan(2);
    expect(sleeps.slice(0, 3)).toEqual([750, 1_500, 3_000]);
    const reason = what === 'Slack' ? 'Slack was not reached' : 'The database does not answer.';
    expect(await read('/readyz')).toMatchObject({
      status: 503,
      text: expect.stringMatching(reason),
    });
    expect((await read('/healthz')).status).toBe(200);
    const { text } = await read('/metrics');
    expect(text).toContain('signalbox_slack_connected 0');
    // Nothing is known of a database that was not opened yet.
    expect(text.includes('signalbox_database_readable 0')).toBe(what === 'PostgreSQL');
    const delivered = await slack.command(ANA, 'ops', '/service list');
    expect(delivered.error).toBeTruthy();

    slack.setReachable(true);
    await server?.start();
    await restarted;
    // One line per problem and not per attempt; a server that starts is a problem of its own.
    const problems = logged('the start waits').map((line) => JSON.parse(line).problem);
    expect(problems).toEqual([...new Set(problems)]);
    expect(problems[0]).toMatch(reason);
    expect(logged('the start proceeds')).toHaveLength(1);
    expect(logged('http request failed')).toEqual([]);
    // It is ready once the channels were read, before which it draws nothing.
    await expect.poll(() => read('/readyz')).toEqual({ status: 200, text: 'ready\n' });
  },
);

test('a start waits while Slack does not show who is in the groups of a role', async () => {
  const onlyGroups = (file: object) =>
    JSON.parse(JSON.stringify(file).replace(`"users":["${ANA}"]`, '"groups":["@db-leads"]'));
  const { sandbox, logged } = await waitingStart(await emptyUrl('sqlite'), onlyGroups);
  const { slack } = sandbox;
  slack.failNext({ method: 'users.info', times: 20, how: 'server-error' });
  await sandbox.restart();
  const problems = logged('the start waits').map((line) => JSON.parse(line).problem);
  expect(problems[0]).toMatch('did not list the members of role');
  expect(logged('the start proceeds')).toHaveLength(1);
});
