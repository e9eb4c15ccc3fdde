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
import { type DoctorSandboxOptions, startDoctorSandbox } from './doctor-sandbox.ts';
import { type ExpectedLine, expectLine, line, namesOf } from './lines.ts';

/** The entries of the workspace, one of them changed, or gone. */
function changed<One>(all: readonly One[], is: (one: One) => boolean, change: Partial<One> | null) {
  return all.flatMap((one) => {
    if (!is(one)) return [one];
    return change === null ? [] : [{ ...one, ...change }];
  });
}

function withRoom(change: Partial<Conversation> | null): DoctorSandboxOptions {
  const { channels } = sandboxWorkspace;
  const rooms = changed(channels, ({ name }) => name === 'db-approvals', change);
  return { workspace: { ...sandboxWorkspace, channels: rooms } };
}

function withLeads(change: Partial<Group> | null): Workspace {
  const groups = changed(sandboxWorkspace.groups, ({ handle }) => handle === 'db-leads', change);
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

/** The lines of the doctor in a sandbox of its own. */
async function diagnosed(options: DoctorSandboxOptions, env: Record<string, string> = {}) {
  return (await startDoctorSandbox(options)).diagnose(env);
}

test('a wrong token is one problem: dependent checks are skipped', async () => {
  const lines = await diagnosed({}, { SLACK_BOT_TOKEN: 'xoxb-not-the-right-one' });
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

test('a missing optional scope is a warning', async () => {
  const lines = await diagnosed({ installed: without('im:write') });
  expectLine(lines, 'scopes', ['warning', 'im:write']);
  expect(namesOf(lines, 'failed')).toEqual([]);
});

test.for<[string, string, string]>([
  ["is not one of Slack's", 'xapp-1-A0SIGNALBOX-9-none', 'connections:write'],
  ['is of another app', 'xapp-1-A0OTHERAPP0-9-none', 'from one app'],
])('an app-level token that %s is reported', async ([, SLACK_APP_TOKEN, fix]) => {
  const lines = await diagnosed({ delivery: 'socket' }, { SLACK_APP_TOKEN });
  expectLine(lines, 'delivery', ['failed', '', fix]);
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

const renamed = { name: 'db-decisions', formerNames: ['db-approvals'] };
const RENAMED_AT = "write '#db-decisions' at channels.approvals";
const near = "did you mean '#db-approval' at";

test.for<[string, Partial<Conversation> | null, string, string]>([
  ['is archived', { archived: true }, 'is archived', 'unarchive it'],
  ['is gone', null, 'the bot does not see this channel', '/invite @Signalbox'],
  ['has another name', { name: 'db-approval' }, 'does not see', near],
  ['was renamed', renamed, 'was renamed to #db-decisions', RENAMED_AT],
  ['the bot is not in', { members: ['U0ANA00001'] }, 'is not a member', '/invite @Signalbox'],
])('a channel that %s is reported', async ([, change, says, fix]) => {
  expectLine(await diagnosed(withRoom(change)), '#db-approvals', ['failed', says, fix]);
});

test('a shared channel is refused for costs only', async () => {
  const shared = '#shared-partners';
  const forCards: DoctorSandboxOptions = {
    yaml: (file) => ({ ...file, channels: { approvals: shared } }),
  };
  expect(line(await diagnosed(forCards), shared)?.status).toBe('warning');
  const forCosts: DoctorSandboxOptions = {
    yaml: (file) => ({ ...file, digests: [{ channel: shared }] }),
  };
  expectLine(await diagnosed(forCosts), shared, ['failed', '', 'digests[0].channel']);
});

test.for<[string, Partial<Group> | null, string, string, string]>([
  ['was deleted', null, 'roles.approver', 'no user group @db-leads', 'create it in Slack'],
  ['has another name', { handle: 'db-lead' }, 'roles.approver', 'no user', "mean '@db-lead'"],
  ['is disabled', { disabled: true }, 'roles.approver', 'is disabled', 'enable it in Slack'],
  ['is empty', { users: [] }, 'approver', 'has no member', 'add a member to @db-leads'],
  ['has one for two', { users: ['U0BEN00001'] }, 'policy[1].approvals', 'needs 2', 'add people'],
  ['has guests only', { users: ['U0GINA0001'] }, 'approver', 'has no member', 'do not count'],
])('a group that %s is reported', async ([, change, name, says, fix]) => {
  const lines = await diagnosed({ workspace: withLeads(change) });
  expectLine(lines, name, ['failed', says, fix]);
});

const orgWide = { ...sandboxWorkspace, enterpriseId: 'E0SANDBOX01', orgWide: true };
const hidden = ['U0HIDDEN001', '', 'U0BEN00001', 'U0CLEO0001', 'U0GUS00001'];
const withoutAna: DoctorSandboxOptions = {
  yaml: (file) => JSON.parse(JSON.stringify(file).replace('U0ANA00001', 'U0NOBODY01')),
};

test.for<[string, DoctorSandboxOptions, string, ExpectedLine]>([
  [
    'a missing scope',
    { installed: without('files:write', 'chat:write') },
    'scopes',
    ['failed', /^chat:write, files:write: not granted$/, 'Reinstall to Workspace'],
  ],
  [
    'groups that the token may not read',
    { installed: without('usergroups:read') },
    'groups',
    ['failed', /^the token lacks usergroups:read$/, 'Reinstall'],
  ],
  [
    'a role with a group on the free plan',
    { workspace: freePlanWorkspace },
    'groups',
    ['failed', /^this Slack plan has no user groups$/, 'list people by their member ids'],
  ],
  ['an unknown user id', withoutAna, 'roles.oncall', ['failed', 'U0NOBODY01']],
  [
    'a member of a group whom Slack does not know, and who does not count',
    { workspace: withLeads({ users: hidden }) },
    'approver',
    [
      'warning',
      /^3 people of @db-leads, .*does not know U0HIDDEN001, or hides/,
      'remove them from @db-leads',
    ],
  ],
  [
    'a token for a whole organization',
    { workspace: orgWide },
    'bot token',
    ['failed', /^the app is installed for the whole organization E0SANDBOX01$/],
  ],
])('%s is reported', async ([, options, name, expected]) => {
  expectLine(await diagnosed(options), name, expected);
});

test('on the free plan roles with people pass', async () => {
  const lines = await diagnosed({ workspace: freePlanWorkspace, yaml: withPeople });
  expect(namesOf(lines, 'failed')).toEqual([]);
});

test('a Slack that does not answer is reported within the time limit', async () => {
  const sandbox = await startDoctorSandbox();
  sandbox.slack.failNext({ method: '*', times: 20, how: 'no-reply' });
  const lines = await sandbox.diagnose({}, 300);
  expectLine(lines, 'bot token', ['failed', /^Slack did not answer in 0\.3 s$/]);
});

test('a colleague of another workspace of the organization counts, though no list of users has them', async () => {
  const organization = { enterpriseId: 'E0SANDBOX01' };
  const members = sandboxWorkspace.members.map((one) =>
    one.id === 'U0BEN00001' ? { ...one, ...organization, teamId: 'T0SISTER001' } : one,
  );
  const workspace = { ...withLeads({ users: ['U0BEN00001'] }), ...organization, members };
  expect(line(await diagnosed({ workspace }), 'approver')?.says).toMatch(/^1 person of @db-leads/);
});

test('an installation for an organization is checked in each of its workspaces', async () => {
  const options = { workspace: organizationWorkspace, yaml: forOrganization };
  const lines = await diagnosed(options);
  expect(namesOf(lines, 'failed')).toEqual([]);
  expect(line(lines, 'bot token')?.says).toContain('in the organization');
  expect(line(lines, 'approver')?.says).toMatch(/^3 people of @db-leads, /);
  expect(line(lines, 'T0SIGNALBOX/#db-audit')?.status).toBe('ok');
  const workspace = { ...organizationWorkspace, sisters: [UNLISTED] };
  const others = await diagnosed({ ...options, workspace });
  expect(line(others, 'bot token')?.says).toBe(`the app is not added to ${SISTER}`);
});

test('in an organization, a near name is written with its workspace', async () => {
  const typo = (file: object) =>
    JSON.parse(
      JSON.stringify(forOrganization(file))
        .replaceAll('/#db-audit', '/#db-adit')
        .replaceAll('@db-leads', 'T0SIGNALBOX/@db-leads')
        .replaceAll('@db-operators', 'T0SIGNALBOX/@db-operator'),
    );
  const lines = await diagnosed({ workspace: organizationWorkspace, yaml: typo });
  const fixes = {
    'T0SIGNALBOX/#db-adit': "did you mean 'T0SIGNALBOX/#db-audit' at channels.audit?",
    'roles.approver': `did you mean '${SISTER}/@db-leads'?`,
    'roles.operator': "did you mean 'T0SIGNALBOX/@db-operators'?",
  };
  for (const [name, fix] of Object.entries(fixes)) expect(line(lines, name)?.fix).toContain(fix);
});

test('blocks that the workspace does not accept are named', async () => {
  const sandbox = await startDoctorSandbox();
  expect(line(await sandbox.diagnose(), 'blocks')).toMatchObject({ status: 'ok' });
  const fault = { method: 'blocks.validate', how: { error: 'invalid_message' } } as const;
  sandbox.slack.failNext({ ...fault, times: 3 });
  const says = /^this workspace does not accept: card, table, chart$/;
  expectLine(await sandbox.diagnose(), 'blocks', ['failed', says]);
});

test('a channel of cards with more than 4,000 messages is named with the time before which they are not read', async () => {
  const { slack, diagnose } = await startDoctorSandbox();
  const send = (text: string) =>
    slack.sendMessage({ as: 'U0ANA00001', channel: 'C0APPROVALS', text });
  for (let count = 0; count < 4_000; count += 1) await send(`Message ${count}`);
  expect(line(await diagnose(), '#db-approvals')?.status).toBe('ok');
  await send('One more');
  const says = /too many messages: those before \d{4}-\d\d-\d\dT\d\d:\d\dZ are not/;
  const fix = 'a channel for cards alone at channels.approvals';
  expectLine(await diagnose(), '#db-approvals', ['warning', says, fix]);
});
