import { expect, test } from 'vitest';
import {
  forOrganization,
  organizationWorkspace,
  SISTER,
  UNLISTED,
} from '../../sandbox/slack/workspace/organization.ts';
import type { Workspace } from '../../sandbox/slack/workspace/workspace.ts';
import { atDoor, resultIn, slackCall, startDoor, withAgents } from '../harness/agents.ts';
import type { EditYaml } from '../harness/config.ts';
import { requestChange } from '../harness/requests.ts';
import { deliverPayload, sentBy } from '../harness/signing.ts';
import { startTestSandbox, type TestSandboxOptions } from '../harness/test-sandbox.ts';
import { ANA, BEN, CLEO, EMIL, FINN } from '../harness/users.ts';
import { emptyUrl } from '../storage/engines.ts';

const NOT_SERVED = 'Signalbox does not serve this workspace of the organization.';

const startOrganization = (options: TestSandboxOptions = {}) =>
  startTestSandbox({ workspace: organizationWorkspace, yaml: forOrganization, ...options });

test('a request of one workspace is approved from the other, in the channel that both have', async () => {
  const sandbox = await startOrganization();
  expect(sandbox.started).toMatchObject({ ok: true });
  const card = await requestChange(sandbox);
  expect(card?.channel).toBe('C0APPROVALS');
  await sandbox.press(BEN, card, 'change.approve');
  await sandbox.card('staging is stopping');
  expect(sandbox.cloud.count('set state')).toBe(1);
  const cards = sandbox.slack.messages('db-approvals').filter(({ threadTs }) => !threadTs);
  expect(cards).toHaveLength(1);
});

test('each list names its workspace, and no other', async () => {
  const sandbox = await startOrganization();
  await sandbox.press(BEN, await requestChange(sandbox), 'change.approve');
  await sandbox.card('staging is stopping');
  for (const method of ['usergroups.list', 'conversations.list'] as const) {
    const teams = new Set(sandbox.slack.calls(method).map(({ args }) => args.team_id));
    expect([...teams].sort()).toEqual([organizationWorkspace.teamId, SISTER]);
  }
  // Both ids of Ana are known as that of the organization.
  const { text } = (await sandbox.card('staging is stopping')) ?? {};
  expect(text).toContain('<@W0ANA00001>');
  expect(sandbox.slack.calls().filter(({ reply }) => reply?.ok === false)).toEqual([]);
});

test('commands, forms, searches, shortcuts and Home work in each workspace', async () => {
  const sandbox = await startOrganization();
  const { slack } = sandbox;
  for (const [person, channel] of [
    [ANA, 'C0OPS000001'],
    [BEN, 'C0OPSSISTER'],
  ] as const) {
    await slack.command(person, channel, '/service list');
    await sandbox.privateMessage(person, '12 services');
    await slack.openHome({ as: person });
    await expect.poll(() => slack.clientState(person).home).not.toBeNull();
  }
  await slack.command(BEN, 'C0OPSSISTER', '/alert show');
  const viewId = await sandbox.modal(BEN, 'alert.show');
  expect((await sandbox.optionsFor(BEN, viewId, 'alert', '')).length).toBeGreaterThan(0);
  await slack.shortcut({ as: ANA, callbackId: 'service.stop' });
  await sandbox.modal(ANA, 'service.stop');
  const card = await requestChange(sandbox);
  await sandbox.pressWithReason(CLEO, card, 'change.reject', 'not now');
  await sandbox.card('rejected');
});

test('a workspace that the file does not list is refused in words, at each way in', async () => {
  const sandbox = await startOrganization();
  const { slack } = sandbox;
  await slack.command(EMIL, 'elsewhere', '/service list');
  await sandbox.privateMessage(EMIL, NOT_SERVED);
  await slack.openHome({ as: EMIL });
  expect(slack.clientState(EMIL).home).toBeNull();
  // In a channel of a served workspace, what decides is where the person is at home.
  const card = await requestChange(sandbox);
  await sandbox.press(EMIL, card, 'change.approve');
  await expect.poll(() => said(sandbox, EMIL, NOT_SERVED)).toBe(2);
  expect(sandbox.cloud.count('set state')).toBe(0);
});

const said = ({ slack }: Awaited<ReturnType<typeof startOrganization>>, to: string, text: string) =>
  slack.clientState(to).messages.filter((each) => each.text.includes(text)).length;

test('a person of a listed workspace is refused in another one, and asks in a direct message', async () => {
  const sandbox = await startOrganization();
  const { slack } = sandbox;
  slack.admin.invite('elsewhere', ANA);
  await slack.command(ANA, 'elsewhere', '/service list');
  await sandbox.privateMessage(ANA, NOT_SERVED);
  await slack.sendMessage({ as: ANA, channel: 'C0ELSEWHERE', text: '@signalbox service list' });
  await slack.openHome({ as: ANA });
  await expect.poll(() => slack.clientState(ANA).home).not.toBeNull();
  const { id: channel } = slack.clientState(ANA).channels.find(({ kind }) => kind === 'dm') ?? {};
  await slack.sendMessage({ as: ANA, channel: channel ?? '', text: 'service list' });
  await expect.poll(() => slack.messages(channel ?? '').at(-1)?.text).toContain('12 services');
  expect(said(sandbox, ANA, '12 services')).toBe(1);
});

test('a person with two ids approves no own request, whichever id a payload names', async () => {
  const workspace: Workspace = {
    ...organizationWorkspace,
    groups: organizationWorkspace.groups.map((group) =>
      group.handle === 'db-leads' ? { ...group, users: [...group.users, ANA] } : group,
    ),
  };
  const sandbox = await startOrganization({ workspace });
  const card = await requestChange(sandbox);
  await sandbox.press(ANA, card, 'change.approve');
  await sandbox.privateMessage(ANA, 'You requested this change');
  const value = /· ([0-9A-Z]{6})/.exec(card?.text ?? '')?.[1];
  const actions = [{ type: 'button', action_id: 'change.approve', block_id: 'x', value }];
  const container = { type: 'message', message_ts: card?.ts, channel_id: card?.channel };
  const place = { container, channel: { id: card?.channel }, team: null };
  const enterprise = { id: organizationWorkspace.enterpriseId };
  const pressed = { ...sentBy(ANA), ...place, enterprise, is_enterprise_install: true, actions };
  expect(await deliverPayload(sandbox, { ...pressed, type: 'block_actions' })).toBe(200);
  await expect.poll(() => said(sandbox, ANA, 'You requested this change')).toBe(2);
  expect(sandbox.cloud.count('set state')).toBe(0);
});

test('a handle that two workspaces have is refused with both ids, and works with its workspace', async () => {
  const [engineers, operators, leads] = organizationWorkspace.groups;
  if (!engineers || !operators || !leads) throw new Error('no groups');
  const own = { ...leads, id: 'S0OTHERLEAD', users: [FINN], teamId: organizationWorkspace.teamId };
  const workspace = { ...organizationWorkspace, groups: [engineers, operators, own, leads] };
  const { started } = await startOrganization({ workspace });
  expect(started).toMatchObject({
    ok: false,
    lasting: true,
    problems: [
      {
        where: 'roles.approver',
        problem: `the user group @db-leads is in several workspaces: T0SIGNALBOX/@db-leads (S0OTHERLEAD), ${SISTER}/@db-leads (S0DBLEADS01)`,
      },
    ],
  });
  const qualified = (file: object) =>
    JSON.parse(JSON.stringify(forOrganization(file)).replace('@db-leads', `${SISTER}/@db-leads`));
  const sandbox = await startOrganization({ workspace, yaml: qualified });
  await sandbox.press(BEN, await requestChange(sandbox), 'change.approve');
  await sandbox.card('staging is stopping');
});

test.for([
  [
    'a list for a token of one workspace',
    { orgWide: false },
    forOrganization,
    'the bot token is of one workspace, T0SIGNALBOX',
  ],
  [
    'a workspace to which the app is not added',
    { sisters: [UNLISTED] },
    forOrganization,
    `the app is not added to ${SISTER}`,
  ],
  [
    'a token of the organization without a list',
    {},
    (file: object) => file,
    'the app is installed for the whole organization E0SANDBOX01',
  ],
] as const)('%s stops the start', async ([, change, yaml, problem]) => {
  const workspace = { ...organizationWorkspace, ...change };
  const { started } = await startOrganization({ workspace, yaml });
  expect(started).toMatchObject({ ok: false, lasting: true, problems: [{ problem }] });
});

test('a change of a group in the other workspace counts for the next press', async () => {
  const sandbox = await startOrganization();
  const card = await requestChange(sandbox);
  await sandbox.slack.admin.setGroup('db-leads', [CLEO]);
  await sandbox.press(BEN, card, 'change.approve');
  await sandbox.privateMessage(BEN, 'Only');
  await sandbox.press(CLEO, card, 'change.approve');
  await sandbox.card('staging is stopping');
});

test('a handle of a workspace keeps its group: a start with another one is refused', async () => {
  const qualified = (file: object) =>
    JSON.parse(JSON.stringify(forOrganization(file)).replace('@db-leads', `${SISTER}/@db-leads`));
  const databaseUrl = await emptyUrl('sqlite');
  const sandbox = await startOrganization({ yaml: qualified, databaseUrl });
  await sandbox.down();
  const { groups } = sandbox.slack.workspace;
  const leads = groups.findIndex(({ handle }) => handle === 'db-leads');
  const [old] = groups.splice(leads, 1);
  if (!old) throw new Error('no group');
  groups.push({ ...old, id: 'S0STOLEN001' });
  const problem = `${SISTER}/@db-leads means another user group now: S0STOLEN001 instead of S0DBLEADS01`;
  expect(await sandbox.refusedRestart()).toMatchObject({ lasting: true, problems: [{ problem }] });
});

test('a workspace is served once a reload lists it', async () => {
  const sandbox = await startOrganization();
  await sandbox.slack.command(EMIL, 'elsewhere', '/service list');
  await sandbox.privateMessage(EMIL, NOT_SERVED);
  const workspaces = [organizationWorkspace.teamId, SISTER, UNLISTED];
  const reloaded = await sandbox.reload((file) => ({
    ...forOrganization(file),
    slack: { workspaces },
  }));
  expect(reloaded).toEqual({ ok: true });
  await sandbox.slack.command(EMIL, 'elsewhere', '/service list');
  await sandbox.privateMessage(EMIL, 'Ask to join @engineering');
});

test('Slackbot asks for people of the listed workspaces only', async () => {
  const yaml: EditYaml = (file) => forOrganization(Object(withAgents('http://127.0.0.1:9')(file)));
  const { url, clock } = await startDoor({ workspace: organizationWorkspace, yaml });
  const stop = async (user: string, team: string) => {
    const args = { service: 'staging', reason: team };
    const meta = { user_id: user, team_id: team };
    return resultIn(await atDoor(url, slackCall(clock.now, 'service_stop', args, meta)));
  };
  expect(await stop('W0ANA00001', organizationWorkspace.teamId)).toMatchObject({ state: 'draft' });
  expect(await stop(EMIL, UNLISTED)).toMatchObject({ refusal: 'unlisted-workspace' });
});
