import { expect, test } from 'vitest';
import { sandboxWorkspace } from '../../sandbox/slack/sandbox-workspace.ts';
import { ask } from './request.ts';
import { by, deliver, deliverPayload, FORM, signatureOf } from './signing.ts';
import { ANA, BEN, CLEO, openStage, type Stage, SVEN } from './stage.ts';

const LIST = {
  command: '/service',
  text: 'list',
  user_id: ANA,
  channel_id: 'C0OPS000001',
  team_id: sandboxWorkspace.teamId,
  api_app_id: sandboxWorkspace.appId,
  trigger_id: '1.2.3',
};

interface Forged {
  readonly secret?: string;
  readonly at?: number;
  readonly fields?: Readonly<Record<string, string>>;
}

function send(stage: Stage, { fields = {}, ...signed }: Forged) {
  const response_url = `${stage.slack.url}/response/none`;
  const body = new URLSearchParams({ ...LIST, response_url, ...fields }).toString();
  return deliver(stage, body, { 'content-type': FORM, ...signatureOf(body, signed) });
}

test.for<[string, number, Forged]>([
  ['has a valid signature', 200, {}],
  ['was signed with another secret', 401, { secret: 'another secret' }],
  ['is six minutes old', 401, { at: Date.now() - 360_000 }],
  ['is dated six minutes ahead', 401, { at: Date.now() + 360_000 }],
  ['has no timestamp', 401, { at: Number.NaN }],
])('a request that %s gets %i', async ([, status, forged]) => {
  const stage = await openStage();
  const before = stage.slack.calls().length;
  expect(await send(stage, forged)).toBe(status);
  if (status !== 200) expect(stage.slack.calls()).toHaveLength(before);
});

test.for([
  ['another workspace', { team_id: 'T0ELSEWHERE' }],
  ['another app', { api_app_id: 'A0ELSEWHERE' }],
] as const)('a signed request of %s is acknowledged without effect', async ([, fields]) => {
  const stage = await openStage();
  // Without a service the command opens a form, which is a visible effect.
  expect(await send(stage, { fields: { ...fields, text: 'stop' } })).toBe(200);
  expect(await send(stage, { fields: { text: 'stop', trigger_id: '4.5.6' } })).toBe(200);
  await expect.poll(() => stage.slack.calls('views.open').length).toBeGreaterThan(0);
  const triggers = stage.slack.calls('views.open').map(({ args }) => args.trigger_id);
  expect(triggers).toEqual(['4.5.6']);
});

test('a body that is too large is refused before it is read', async () => {
  const stage = await openStage();
  expect(await send(stage, { fields: { text: 'x'.repeat(140_000) } })).toBe(413);
});

test.for([
  ['null', 'application/json', 'null'],
  ['a list', 'application/json', '[]'],
  ['not JSON', 'application/json', '{'],
  ['a payload of null', 'application/x-www-form-urlencoded', 'payload=null'],
  ['a payload of text', 'application/x-www-form-urlencoded', 'payload=%22x%22'],
  ['two payloads', 'application/x-www-form-urlencoded', 'payload=%7B%7D&payload=%7B%7D'],
] as const)('a signed body that is %s is refused without a crash', async ([, type, body]) => {
  const stage = await openStage();
  const headers = { 'content-type': type, ...signatureOf(body) };
  expect(await deliver(stage, body, headers)).toBe(400);
  expect(await send(stage, {})).toBe(200);
});

test.for([
  ['a payload type without a handler', { type: 'view_closed' }],
  ['a payload type that does not exist', { type: 'dream_submission' }],
] as const)('%s is acknowledged at once, without effect', async ([, fields]) => {
  const stage = await openStage();
  const view = { id: 'V1', type: 'modal', callback_id: 'service.stop', state: { values: {} } };
  // Bolt alone would answer with 404 after three seconds.
  expect(await deliverPayload(stage, { ...by(ANA), view, ...fields })).toBe(200);
});

test.for([
  ['without its trigger id', { trigger_id: undefined }],
  ['without a user', { user: { team_id: sandboxWorkspace.teamId } }],
  ['with an invalid user id', { user: { id: '../U1', team_id: sandboxWorkspace.teamId } }],
  ['with actions that are not a list', { actions: 7 }],
] as const)('a press %s is not acknowledged', async ([, fields]) => {
  const stage = await openStage();
  const value = 'ZZZZZZ';
  const actions = [{ type: 'button', action_id: 'change.approve', block_id: 'x', value }];
  const pressed = { ...by(ANA), type: 'block_actions', actions, ...fields };
  expect(await deliverPayload(stage, pressed)).toBe(500);
  expect(await send(stage, {})).toBe(200);
});

test('a user of another workspace in a shared channel cannot approve', async () => {
  const stage = await openStage({
    yaml: (file) => ({ ...file, channels: { approvals: '#shared-partners' } }),
  });
  await stage.slack.command(ANA, 'ops', '/service stop staging for the night');
  await stage.press(ANA, await stage.privateWord(ANA, 'Stop staging?'), 'change.confirm');
  const card = await stage.card('waiting for approval', 'shared-partners');
  await stage.press(SVEN, card, 'change.approve');
  await stage.privateWord(SVEN, 'Only members of this workspace can use Signalbox');
  expect(stage.cloud.count('set state')).toBe(0);
});

test('a click that is delivered twice counts once', async () => {
  const stage = await openStage({
    yaml: (file) => withCount(file, 2),
  });
  const card = await ask(stage);
  if (!card) throw new Error('no card');
  const click = signedClick(stage, card, BEN);
  expect(await click()).toBe(200);
  expect(await click()).toBe(200);
  await stage.card('1 of 2');
  // Cleo's press is handled after both of Ben's. Had Ben's counted twice, he would have a second answer.
  await stage.press(CLEO, card, 'change.approve');
  await stage.card('Stop staging: accepted');
  const words = stage.slack.clientState(BEN).messages.map(({ text }) => text);
  expect(words.filter((text) => text.includes('already approved this'))).toEqual([]);
  expect(stage.cloud.count('set state')).toBe(1);
});

function withCount(file: Record<string, never>, count: number) {
  const text = JSON.stringify(file).replaceAll('"count":1', `"count":${count}`);
  return JSON.parse(text);
}

function signedClick(stage: Stage, card: { channel: string; ts: string }, user: string) {
  const id = /· ([0-9A-Z]{6})/.exec(
    stage.slack.messages('db-approvals').find(({ ts }) => ts === card.ts)?.text ?? '',
  )?.[1];
  const payload = {
    type: 'block_actions',
    api_app_id: sandboxWorkspace.appId,
    team: { id: sandboxWorkspace.teamId },
    user: { id: user, team_id: sandboxWorkspace.teamId },
    channel: { id: card.channel },
    container: { type: 'message', message_ts: card.ts, channel_id: card.channel },
    trigger_id: '77.88.captured',
    actions: [{ type: 'button', action_id: 'change.approve', block_id: 'x', value: id }],
  };
  return () => deliverPayload(stage, payload);
}

test('the value of a field that a later choice hides is not sent', async () => {
  const stage = await openStage();
  const text = (name: string, value: string) => ({
    [name]: { [name]: { type: 'plain_text_input', value } },
  });
  const chosen = (name: string, value: string) => ({
    [name]: {
      [name]: {
        type: 'static_select',
        selected_option: { text: { type: 'plain_text', text: value }, value },
      },
    },
  });
  const values = {
    ...chosen('service', '2f7c9d34-5f0e-4f0a-8f58-0f6f0b1c2d3e'),
    ...chosen('type', 'VPC_ENDPOINT_SERVICE'),
    ...text('description', 'orders'),
    ...text('vpcEndpointServiceName', 'vpce-svc-1'),
    ...text('vpcResourceShareArn', 'left over from another type'),
    ...text('reason', 'for the feed'),
  };
  const payload = {
    type: 'view_submission',
    api_app_id: sandboxWorkspace.appId,
    team: { id: sandboxWorkspace.teamId },
    user: { id: ANA, team_id: sandboxWorkspace.teamId },
    trigger_id: '77.88.submitted',
    view: {
      id: 'V0RAW',
      type: 'modal',
      hash: '1.abc',
      callback_id: 'endpoint.create',
      private_metadata: JSON.stringify({ channel: 'C0OPS000001' }),
      state: { values },
    },
  };
  expect(await deliverPayload(stage, payload)).toBe(200);
  const preview = JSON.stringify(await stage.privateWord(ANA, 'Create endpoint for'));
  expect(preview).toContain('vpce-svc-1');
  expect(preview).not.toContain('left over');
});
