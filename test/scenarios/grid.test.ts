import { expect, test } from 'vitest';
import { elementsIn } from '../../sandbox/slack/input-state.ts';
import { sandboxWorkspace } from '../../sandbox/slack/workspace/sandbox-workspace.ts';
import type { Member, Workspace } from '../../sandbox/slack/workspace/workspace.ts';
import { atDoor, resultIn, slackCall, startDoor } from '../harness/agents.ts';
import { placeOf, type Readable } from '../harness/messages.ts';
import { REFUSED } from '../harness/refused.ts';
import { requestChange } from '../harness/requests.ts';
import { deliver, deliverPayload, FORM, sentBy, signatureOf } from '../harness/signing.ts';
import { startTestSandbox, type TestSandbox } from '../harness/test-sandbox.ts';
import { ANA, BEN, CLEO, GUS } from '../harness/users.ts';

const COLLEAGUE = { teamId: 'T0SISTER001', enterpriseId: 'E0SANDBOX01' };

/** The id of a person in the organization, beside that in the workspace. */
const secondId = (id: string) => `W${id.slice(1)}`;

/** The workspace in an organization of Enterprise Grid; these people are at home in another workspace of it. */
function onGrid(...colleagues: readonly string[]): Workspace {
  const members = sandboxWorkspace.members.map(
    (one): Member =>
      colleagues.includes(one.id)
        ? { ...one, ...COLLEAGUE, enterpriseUserId: secondId(one.id) }
        : one,
  );
  return { ...sandboxWorkspace, enterpriseId: 'E0SANDBOX01', members };
}

test('a colleague of another workspace of the organization types, presses, fills forms and searches', async () => {
  const sandbox = await startTestSandbox({ workspace: onGrid(ANA, BEN) });
  const { slack } = sandbox;
  await sandbox.press(BEN, await requestChange(sandbox), 'change.reject');
  const form = await sandbox.modal(BEN, 'change.reject');
  await slack.submit(BEN, form, {
    reason: { reason: { type: 'plain_text_input', value: 'not now' } },
  });
  await sandbox.card('rejected');

  await slack.shortcut({ as: ANA, callbackId: 'service.stop' });
  await sandbox.modal(ANA, 'service.stop');
  const { ts = '' } = (await sandbox.card('rejected')) ?? {};
  await slack.shortcut({ as: ANA, callbackId: 'command.palette', channel: 'C0APPROVALS', ts });
  await sandbox.modal(ANA, 'command.palette');
  await slack.command(ANA, 'ops', '/alert show');
  const alert = await sandbox.modal(ANA, 'alert.show');
  const found = await slack.suggest({
    as: ANA,
    place: { in: 'view', viewId: alert },
    blockId: 'alert',
    actionId: 'alert',
    value: '',
  });
  expect(found.options.length).toBeGreaterThan(0);
});

test('a group that names a colleague by the second id of Grid gives that person its role', async () => {
  const workspace = onGrid(BEN);
  const groups = workspace.groups.map((group) => ({
    ...group,
    users: group.users.map((id) => (id === BEN ? secondId(id) : id)),
  }));
  const sandbox = await startTestSandbox({ workspace: { ...workspace, groups } });
  await sandbox.press(BEN, await requestChange(sandbox), 'change.approve');
  await sandbox.card('staging is stopping');
});

type Shown = Readable & Parameters<typeof placeOf>[0];

/** Presses a button with the second id of a person, as another payload of Slack may name it. */
async function pressBySecondId(sandbox: TestSandbox, user: string, message: Shown, id: string) {
  const { channel, ts } = placeOf(message);
  const button = elementsIn(message.blocks).find(({ element }) => element.action_id === id);
  const place = { message_ts: ts, channel_id: channel, is_ephemeral: channel !== 'C0APPROVALS' };
  const payload = {
    ...{ ...sentBy(secondId(user)), type: 'block_actions', channel: { id: channel } },
    container: { type: 'message', ...place },
    actions: [{ ...button?.element, block_id: 'x' }],
  };
  expect(await deliverPayload(sandbox, payload)).toBe(200);
}

test('a person with two ids approves no own request, and counts once as an approver', async () => {
  const workspace = onGrid(ANA, CLEO);
  const groups = workspace.groups.map((group) => ({
    ...group,
    users: group.users.includes(BEN) ? [...group.users, ANA] : group.users,
  }));
  const sandbox = await startTestSandbox({
    workspace: { ...workspace, groups },
    yaml: (file) => JSON.parse(JSON.stringify(file).replaceAll('"count":1', '"count":2')),
  });
  const card = await requestChange(sandbox);
  await pressBySecondId(sandbox, ANA, card, 'change.approve');
  await sandbox.privateMessage(ANA, 'You requested this change');
  await pressBySecondId(sandbox, CLEO, card, 'change.approve');
  await sandbox.card('1 of 2');
  await sandbox.press(CLEO, card, 'change.approve');
  await sandbox.privateMessage(CLEO, REFUSED.alreadyApproved);
  expect(sandbox.cloud.count('set state')).toBe(0);
});

test('a private message counts as the place of its person by both ids', async () => {
  const sandbox = await startTestSandbox({ workspace: onGrid(ANA) });
  const preview = await sandbox.ask(ANA, '/service stop staging for the night', 'Stop staging?');
  await pressBySecondId(sandbox, ANA, preview, 'change.confirm');
  await sandbox.card('requests: ');
});

test('a command, a message and a query by the second id are of the same person', async () => {
  const sandbox = await startTestSandbox({ workspace: onGrid(ANA) });
  const typed = { channel_id: 'C0OPS000001', user_id: secondId(ANA), team_id: 'T0SIGNALBOX' };
  const command = { ...typed, api_app_id: 'A0SIGNALBOX', trigger_id: '79.1', command: '/service' };
  const body = new URLSearchParams({ ...command, text: 'stop staging for the night' }).toString();
  const headers = { 'content-type': FORM, ...signatureOf(body) };
  expect(await deliver(sandbox, body, headers)).toBe(200);
  await sandbox.press(ANA, await sandbox.privateMessage(ANA, 'Stop staging?'), 'change.confirm');
  await sandbox.card('requests: ');
  await sandbox.ask(ANA, `/change list by ${secondId(ANA)}`, 'Stop staging');
});

test('an agent asks for the same person by both ids: one key, one change, cancelled by either', async () => {
  const { url, clock } = await startDoor({ workspace: onGrid(ANA) });
  const call = async (user: string, tool: string, args: object) => {
    const meta = { user_id: user, team_id: COLLEAGUE.teamId };
    return resultIn(await atDoor(url, slackCall(clock.now, tool, args, meta)));
  };
  const asked = { service: 'staging', reason: 'for the night', key: 'night-1' };
  const first = await call(ANA, 'service_stop', asked);
  clock.now = new Date(clock.now.getTime() + 1_000);
  const second = await call(secondId(ANA), 'service_stop', asked);
  expect(second.change).toBe(first.change);
  const cancelled = await call(secondId(ANA), 'request_cancel', { id: first.change });
  expect(cancelled).toMatchObject({ state: 'cancelled' });
});

test('a message in a channel that a partner hosts is answered', async () => {
  const channels = sandboxWorkspace.channels.map((each) =>
    each.kind === 'external' ? { ...each, hostedBy: 'T0PARTNERS1' } : each,
  );
  const sandbox = await startTestSandbox({ workspace: { ...sandboxWorkspace, channels } });
  const typed = { as: ANA, channel: 'C0PARTNERS1', text: '@signalbox service list' };
  await sandbox.slack.sendMessage(typed);
  await sandbox.privateMessage(ANA, '12 services');
});

const UNKNOWN = 'U0HIDDEN001';

/** The groups of the policy contain a user whom Slack does not show to the app, and an empty id. */
function withUnknown(): Workspace {
  const groups = sandboxWorkspace.groups.map((group) => ({
    ...group,
    users: [UNKNOWN, '', ...group.users],
  }));
  return { ...sandboxWorkspace, groups };
}

test('a listed user about whom Slack says too little stops no start, and decides nothing', async () => {
  const members = sandboxWorkspace.members.map(
    (one): Member => (one.id === CLEO ? { ...one, deleted: null as never } : one),
  );
  const sandbox = await startTestSandbox({
    workspace: { ...sandboxWorkspace, members },
    yaml: (file) => ({ ...file, notify: 'both' }),
  });
  expect(sandbox.started.ok).toBe(true);
  await requestChange(sandbox);
  await sandbox.privateMessage(BEN, 'requests: ');
  const told = sandbox.slack.calls('chat.postMessage').map(({ args }) => args.channel);
  expect(told).not.toContain(CLEO);
});

test('a member of a group whom Slack does not know stops no start, reload, card or press', async () => {
  const yaml = (file: object) => ({ ...file, notify: 'both' });
  const sandbox = await startTestSandbox({ workspace: withUnknown(), yaml });
  expect(sandbox.started.ok).toBe(true);
  expect(await sandbox.reload(yaml)).toEqual({ ok: true });
  const card = await requestChange(sandbox);
  for (const approver of [CLEO, GUS]) await sandbox.privateMessage(approver, 'requests: ');
  await sandbox.press(BEN, card, 'change.approve');
  await sandbox.card('staging is stopping');
});
