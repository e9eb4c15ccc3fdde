import { expect, onTestFinished, test, vi } from 'vitest';
import {
  forOrganization,
  organizationWorkspace,
  SISTER,
  UNLISTED,
} from '../../sandbox/slack/workspace/organization.ts';
import {
  freePlanWorkspace,
  sandboxWorkspace,
} from '../../sandbox/slack/workspace/sandbox-workspace.ts';
import type { Conversation, Group, Workspace } from '../../sandbox/slack/workspace/workspace.ts';
import { withPeople } from '../harness/config.ts';
import { startDoctorSandbox } from './doctor-sandbox.ts';
import { expectLine, line, namesOf } from './lines.ts';

function withRoom(name: string, change: Partial<Conversation> | null): Workspace {
  const channels = sandboxWorkspace.channels.flatMap((room) => {
    if (room.name !== name) return [room];
    return change === null ? [] : [{ ...room, ...change }];
  });
  return { ...sandboxWorkspace, channels };
}

function withGroup(handle: string, change: Partial<Group> | null): Workspace {
  const groups = sandboxWorkspace.groups.flatMap((group) => {
    if (group.handle !== handle) return [group];
    return change === null ? [] : [{ ...group, ...change }];
  });
  return { ...sandboxWorkspace, groups };
}

test.for<[string, string, string]>([
  ['invalid_auth', 'does not know this token', 'copy it again from OAuth & Permissions'],
  ['token_expired', 'the token has expired', 'without token rotation'],
  ['token_revoked', 'the token was revoked', 'Reinstall to Workspace'],
  ['account_inactive', 'the app was uninstalled', 'allow it again'],
  ['something_new', 'Slack refuses: something_new', 'docs.slack.dev'],
])('a token that Slack refuses with %s is reported with its fix', async ([error, says, fix]) => {
  const sandbox = await startDoctorSandbox();
  sandbox.slack.failNext({ method: 'auth.test', times: 1, how: { error } });
  const lines = await sandbox.diagnose();
  expectLine(lines, 'bot token', ['failed', says, fix]);
});

test('a token that a server quotes is removed', async () => {
  const sandbox = await startDoctorSandbox();
  const error = sandbox.slack.botToken;
  sandbox.slack.failNext({ method: 'auth.test', times: 1, how: { error } });
  expect(line(await sandbox.diagnose(), 'bot token')?.says).toBe('Slack gave no usable answer');
});

test('a wrong token is one problem: dependent checks are skipped', async () => {
  const sandbox = await startDoctorSandbox();
  const lines = await sandbox.diagnose({ SLACK_BOT_TOKEN: 'xoxb-not-the-right-one' });
  expect(namesOf(lines, 'failed')).toEqual(['bot token']);
});

function without(...gone: string[]) {
  return (manifest: Record<string, unknown>) => {
    const text = JSON.stringify(manifest, (key, value) =>
      key === 'bot' ? value.filter((scope: string) => !gone.includes(scope)) : value,
    );
    return JSON.parse(text);
  };
}

test('a missing scope is named with the reinstallation', async () => {
  const sandbox = await startDoctorSandbox({ installed: without('files:write', 'chat:write') });
  expect(line(await sandbox.diagnose(), 'scopes')).toMatchObject({
    status: 'failed',
    says: 'chat:write, files:write: not granted',
    fix: expect.stringContaining('Reinstall to Workspace'),
  });
});

test('a missing optional scope is a warning', async () => {
  const sandbox = await startDoctorSandbox({ installed: without('im:write') });
  const lines = await sandbox.diagnose();
  expectLine(lines, 'scopes', ['warning', 'im:write']);
  expect(namesOf(lines, 'failed')).toEqual([]);
});

test('without the scope for user groups both the scope and the groups are reported', async () => {
  const sandbox = await startDoctorSandbox({ installed: without('usergroups:read') });
  const lines = await sandbox.diagnose();
  expect(line(lines, 'groups')?.says).toBe('the token lacks usergroups:read');
  expect(line(lines, 'groups')?.fix).toContain('Reinstall');
});

test.for<[string, Record<string, string>, string]>([
  ["is not one of Slack's", { SLACK_APP_TOKEN: 'xapp-1-A0SIGNALBOX-9-none' }, 'connections:write'],
  ['is of another app', { SLACK_APP_TOKEN: 'xapp-1-A0OTHERAPP0-9-none' }, 'from one app'],
])('an app-level token that %s is reported', async ([, changes, fix]) => {
  const sandbox = await startDoctorSandbox({ delivery: 'socket' });
  expectLine(await sandbox.diagnose(changes), 'delivery', ['failed', '', fix]);
});

test('Socket Mode that is off for the app is reported', async () => {
  const sandbox = await startDoctorSandbox({ delivery: 'http' });
  const lines = await sandbox.diagnose({ SLACK_APP_TOKEN: sandbox.slack.appToken });
  expect(line(lines, 'delivery')?.says).toBe('Socket Mode is off for this app');
});

test.for<[number, string]>([
  [600_000, 'failed'],
  [-20_000, 'warning'],
  [1_000, 'ok'],
])("a clock that is %i ms off Slack's is %s", async ([ms, status]) => {
  const sandbox = await startDoctorSandbox();
  const real = Date.now;
  vi.spyOn(Date, 'now').mockImplementation(() => real() + ms);
  onTestFinished(() => void vi.restoreAllMocks());
  expect(line(await sandbox.diagnose(), 'clock')?.status).toBe(status);
});

test.for<[string, Partial<Conversation> | null, string, string]>([
  ['is archived', { archived: true }, 'is archived', 'unarchive it'],
  ['is gone', null, 'the bot does not see this channel', '/invite @Signalbox'],
  ['has another name', { name: 'db-approval' }, 'does not see', "did you mean '#db-approval' at"],
  [
    'was renamed',
    { name: 'db-decisions', formerNames: ['db-approvals'] },
    'was renamed to #db-decisions',
    "write '#db-decisions' at channels.approvals",
  ],
  ['the bot is not in', { members: ['U0ANA00001'] }, 'is not a member', '/invite @Signalbox'],
])('a channel that %s is reported', async ([, change, says, fix]) => {
  const sandbox = await startDoctorSandbox({ workspace: withRoom('db-approvals', change) });
  expectLine(await sandbox.diagnose(), '#db-approvals', ['failed', says, fix]);
});

test('a shared channel is refused for costs only', async () => {
  const shared = '#shared-partners';
  const forCards = await startDoctorSandbox({
    yaml: (file) => ({ ...file, channels: { approvals: shared } }),
  });
  expect(line(await forCards.diagnose(), shared)?.status).toBe('warning');
  const forCosts = await startDoctorSandbox({
    yaml: (file) => ({ ...file, digests: [{ channel: shared }] }),
  });
  expectLine(await forCosts.diagnose(), shared, ['failed', '', 'digests[0].channel']);
});

test.for<[string, Partial<Group> | null, string, string, string]>([
  ['was deleted', null, 'roles.approver', 'no user group @db-leads', 'create it in Slack'],
  ['has another name', { handle: 'db-lead' }, 'roles.approver', 'no user', "mean '@db-lead'"],
  ['is disabled', { disabled: true }, 'roles.approver', 'is disabled', 'enable it in Slack'],
  ['is empty', { users: [] }, 'approver', 'has no member', 'add a member to @db-leads'],
  ['has one for two', { users: ['U0BEN00001'] }, 'policy[1].approvals', 'needs 2', 'add people'],
  ['has guests only', { users: ['U0GINA0001'] }, 'approver', 'has no member', 'do not count'],
])('a group that %s is reported', async ([, change, name, says, fix]) => {
  const sandbox = await startDoctorSandbox({ workspace: withGroup('db-leads', change) });
  expectLine(await sandbox.diagnose(), name, ['failed', says, fix]);
});

test('on the free plan the doctor reports a role with a group, and passes roles with people', async () => {
  const workspace = freePlanWorkspace;
  const withGroups = await startDoctorSandbox({ workspace });
  expect(line(await withGroups.diagnose(), 'groups')).toMatchObject({
    status: 'failed',
    says: 'this Slack plan has no user groups',
    fix: expect.stringContaining('list people by their member ids'),
  });
  const people = await startDoctorSandbox({ workspace, yaml: withPeople });
  expect(namesOf(await people.diagnose(), 'failed')).toEqual([]);
});

test('an unknown user id is reported', async () => {
  const sandbox = await startDoctorSandbox({
    yaml: (file) => JSON.parse(JSON.stringify(file).replace('U0ANA00001', 'U0NOBODY01')),
  });
  expect(line(await sandbox.diagnose(), 'roles.oncall')?.says).toContain('U0NOBODY01');
});

test('a Slack that does not answer is reported within the time limit', async () => {
  const sandbox = await startDoctorSandbox();
  sandbox.slack.failNext({ method: '*', times: 20, how: 'no-reply' });
  const lines = await sandbox.diagnose({}, 300);
  expect(line(lines, 'bot token')).toMatchObject({
    status: 'failed',
    says: 'Slack did not answer in 0.3 s',
  });
});

test('a member of a group whom Slack does not know is named, and counts as no member', async () => {
  const users = ['U0HIDDEN001', '', 'U0BEN00001', 'U0CLEO0001', 'U0GUS00001'];
  const sandbox = await startDoctorSandbox({ workspace: withGroup('db-leads', { users }) });
  expect(line(await sandbox.diagnose(), 'approver')).toMatchObject({
    status: 'warning',
    says: expect.stringMatching(/^3 people of @db-leads, .*does not know U0HIDDEN001, or hides/),
    fix: expect.stringContaining('remove them from @db-leads'),
  });
});

test('a colleague of another workspace of the organization counts, though no list of users has them', async () => {
  const organization = { enterpriseId: 'E0SANDBOX01' };
  const members = sandboxWorkspace.members.map((one) =>
    one.id === 'U0BEN00001' ? { ...one, ...organization, teamId: 'T0SISTER001' } : one,
  );
  const workspace = { ...withGroup('db-leads', { users: ['U0BEN00001'] }), ...organization };
  const sandbox = await startDoctorSandbox({ workspace: { ...workspace, members } });
  expect(line(await sandbox.diagnose(), 'approver')?.says).toMatch(/^1 person of @db-leads/);
});

test('a token for a whole organization is reported', async () => {
  const workspace = { ...sandboxWorkspace, enterpriseId: 'E0SANDBOX01', orgWide: true };
  const sandbox = await startDoctorSandbox({ workspace });
  expect(line(await sandbox.diagnose(), 'bot token')).toMatchObject({
    status: 'failed',
    says: 'the app is installed for the whole organization E0SANDBOX01',
  });
});

test('an installation for an organization is checked in each of its workspaces', async () => {
  const options = { workspace: organizationWorkspace, yaml: forOrganization };
  const sandbox = await startDoctorSandbox(options);
  const lines = await sandbox.diagnose();
  expect(namesOf(lines, 'failed')).toEqual([]);
  expect(line(lines, 'bot token')?.says).toContain('in the organization');
  expect(line(lines, 'approver')?.says).toMatch(/^3 people of @db-leads, /);
  expect(line(lines, 'T0SIGNALBOX/#db-audit')?.status).toBe('ok');
  const workspace = { ...organizationWorkspace, sisters: [UNLISTED] };
  const other = await startDoctorSandbox({ ...options, workspace });
  expect(line(await other.diagnose(), 'bot token')?.says).toBe(`the app is not added to ${SISTER}`);
});

test('in an organization, a near name is written with its workspace', async () => {
  const typo = (file: object) =>
    JSON.parse(
      JSON.stringify(forOrganization(file))
        .replaceAll('/#db-audit', '/#db-adit')
        .replaceAll('@db-leads', 'T0SIGNALBOX/@db-leads')
        .replaceAll('@db-operators', 'T0SIGNALBOX/@db-operator'),
    );
  const sandbox = await startDoctorSandbox({ workspace: organizationWorkspace, yaml: typo });
  const lines = await sandbox.diagnose();
  const fixes = ['T0SIGNALBOX/#db-adit', 'roles.approver', 'roles.operator'].map(
    (name) => line(lines, name)?.fix ?? '',
  );
  expect(fixes).toEqual([
    expect.stringContaining("did you mean 'T0SIGNALBOX/#db-audit' at channels.audit?"),
    expect.stringContaining(`did you mean '${SISTER}/@db-leads'?`),
    expect.stringContaining("did you mean 'T0SIGNALBOX/@db-operators'?"),
  ]);
});

test('blocks that the workspace does not accept are named', async () => {
  const sandbox = await startDoctorSandbox();
  expect(line(await sandbox.diagnose(), 'blocks')).toMatchObject({ status: 'ok' });
  const fault = { method: 'blocks.validate', how: { error: 'invalid_message' } } as const;
  sandbox.slack.failNext({ ...fault, times: 3 });
  expect(line(await sandbox.diagnose(), 'blocks')).toMatchObject({
    status: 'failed',
    says: 'this workspace does not accept: card, table, chart',
  });
});

test('a channel of cards with more than 4,000 messages is named with the time before which they are not read', async () => {
  const { slack, diagnose } = await startDoctorSandbox();
  const send = (text: string) =>
    slack.sendMessage({ as: 'U0ANA00001', channel: 'C0APPROVALS', text });
  for (let count = 0; count < 4_000; count += 1) await send(`Message ${count}`);
  expect(line(await diagnose(), '#db-approvals')?.status).toBe('ok');
  await send('One more');
  expect(line(await diagnose(), '#db-approvals')).toMatchObject({
    status: 'warning',
    says: expect.stringMatching(
      /too many messages: those before \d{4}-\d\d-\d\dT\d\d:\d\dZ are not/,
    ),
    fix: expect.stringContaining('a channel for cards alone at channels.approvals'),
  });
});
