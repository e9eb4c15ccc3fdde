import { createHmac } from 'node:crypto';
import { expect, test } from 'vitest';
import { sandboxWorkspace } from '../../src/sandbox/slack/sandbox-workspace.ts';
import { ask } from './asking.ts';
import { ANA, BEN, CLEO, openStage, SECRET, type Stage, SVEN } from './stage.ts';

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

async function send(stage: Stage, { secret = SECRET, at = Date.now(), fields = {} }: Forged) {
  const response_url = `${stage.slack.url}/response/none`;
  const body = new URLSearchParams({ ...LIST, response_url, ...fields }).toString();
  const time = String(Math.floor(at / 1_000));
  const hmac = createHmac('sha256', secret).update(`v0:${time}:${body}`).digest('hex');
  const answer = await fetch(`${stage.url}/slack/events`, {
    method: 'POST',
    headers: {
      'content-type': 'application/x-www-form-urlencoded',
      'x-slack-request-timestamp': time,
      'x-slack-signature': `v0=${hmac}`,
    },
    body,
  });
  return answer.status;
}

test.for<[string, number, Forged]>([
  ['is signed as it should be', 200, {}],
  ['was signed with another secret', 401, { secret: 'somebody else' }],
  ['is six minutes old', 401, { at: Date.now() - 360_000 }],
  ['comes from six minutes ahead', 401, { at: Date.now() + 360_000 }],
  ['has no time', 401, { at: Number.NaN }],
])('a request that %s gets %i', async ([, status, forged]) => {
  const stage = await openStage();
  const before = stage.slack.calls().length;
  expect(await send(stage, forged)).toBe(status);
  if (status !== 200) expect(stage.slack.calls()).toHaveLength(before);
});

test.for([
  ['another workspace', { team_id: 'T0ELSEWHERE' }],
  ['another app', { api_app_id: 'A0ELSEWHERE' }],
] as const)('a signed request of %s is acknowledged and has no effect', async ([, fields]) => {
  const stage = await openStage();
  // Without a service the command opens a form: an effect that shows.
  expect(await send(stage, { fields: { ...fields, text: 'stop' } })).toBe(200);
  expect(await send(stage, { fields: { text: 'stop', trigger_id: '4.5.6' } })).toBe(200);
  await expect.poll(() => stage.slack.calls('views.open').length).toBeGreaterThan(0);
  const triggers = stage.slack.calls('views.open').map(({ args }) => args.trigger_id);
  expect(triggers).toEqual(['4.5.6']);
});

test('a body that is too large is turned away before it is read', async () => {
  const stage = await openStage();
  expect(await send(stage, { fields: { text: 'x'.repeat(140_000) } })).toBe(413);
});

test.for([
  ['null', 'application/json', 'null'],
  ['a list', 'application/json', '[]'],
  ['no JSON', 'application/json', '{'],
  ['a payload of null', 'application/x-www-form-urlencoded', 'payload=null'],
  ['a payload of text', 'application/x-www-form-urlencoded', 'payload=%22x%22'],
  ['two payloads', 'application/x-www-form-urlencoded', 'payload=%7B%7D&payload=%7B%7D'],
] as const)('a signed body that is %s is refused, and the bot goes on', async ([, type, body]) => {
  const stage = await openStage();
  const time = String(Math.floor(Date.now() / 1_000));
  const hmac = createHmac('sha256', SECRET).update(`v0:${time}:${body}`).digest('hex');
  const headers = {
    'content-type': type,
    'x-slack-request-timestamp': time,
    'x-slack-signature': `v0=${hmac}`,
  };
  const answer = await fetch(`${stage.url}/slack/events`, { method: 'POST', headers, body });
  expect(answer.status).toBe(400);
  expect(await send(stage, {})).toBe(200);
});

test.for([
  ['a kind that nobody listens to', { type: 'view_closed' }],
  ['a kind that Slack does not have yet', { type: 'dream_submission' }],
] as const)('%s is acknowledged at once, and has no effect', async ([, fields]) => {
  const stage = await openStage();
  const view = { id: 'V1', type: 'modal', callback_id: 'service.stop', state: { values: {} } };
  // Bolt by itself answers with a 404, and only when three seconds are over.
  expect(await sendSigned(stage, { ...WHO, view, ...fields })).toBe(200);
});

test.for([
  ['without its interaction', { trigger_id: undefined }],
  ['by nobody', { user: { team_id: sandboxWorkspace.teamId } }],
  ['by somebody who cannot be', { user: { id: '../U1', team_id: sandboxWorkspace.teamId } }],
  ['of what is no list', { actions: 7 }],
] as const)('a press %s is never acknowledged as if it were stored', async ([, fields]) => {
  const stage = await openStage();
  const value = 'ZZZZZZ';
  const actions = [{ type: 'button', action_id: 'change.approve', block_id: 'x', value }];
  const pressed = { ...WHO, type: 'block_actions', actions, ...fields };
  expect(await sendSigned(stage, pressed)).toBe(500);
  expect(await send(stage, {})).toBe(200);
});

const WHO = {
  api_app_id: sandboxWorkspace.appId,
  team: { id: sandboxWorkspace.teamId },
  user: { id: ANA, team_id: sandboxWorkspace.teamId },
  trigger_id: '77.88.odd',
};

test('a stranger who shares a channel presses in vain', async () => {
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
  // What comes after it was handled: had it counted twice, Ben would have been told so by now.
  await stage.press(CLEO, card, 'change.approve');
  await stage.card('Stop staging: accepted');
  const words = stage.slack.screen(BEN).messages.map(({ text }) => text);
  expect(words.filter((text) => text.includes('approved this already'))).toEqual([]);
  expect(stage.cloud.count('set state')).toBe(1);
});

function withCount(file: Record<string, never>, count: number) {
  const text = JSON.stringify(file).replaceAll('"count":1', `"count":${count}`);
  return JSON.parse(text);
}

function signedClick(stage: Stage, card: { channel: string; ts: string }, by: string) {
  const id = /· ([0-9A-Z]{6})/.exec(
    stage.slack.messages('db-approvals').find(({ ts }) => ts === card.ts)?.text ?? '',
  )?.[1];
  const payload = {
    type: 'block_actions',
    api_app_id: sandboxWorkspace.appId,
    team: { id: sandboxWorkspace.teamId },
    user: { id: by, team_id: sandboxWorkspace.teamId },
    channel: { id: card.channel },
    container: { type: 'message', message_ts: card.ts, channel_id: card.channel },
    trigger_id: '77.88.captured',
    actions: [{ type: 'button', action_id: 'change.approve', block_id: 'x', value: id }],
  };
  return () => sendSigned(stage, payload);
}

async function sendSigned(stage: Stage, payload: object) {
  const body = new URLSearchParams({ payload: JSON.stringify(payload) }).toString();
  const time = String(Math.floor(Date.now() / 1_000));
  const hmac = createHmac('sha256', SECRET).update(`v0:${time}:${body}`).digest('hex');
  const headers = {
    'content-type': 'application/x-www-form-urlencoded',
    'x-slack-request-timestamp': time,
    'x-slack-signature': `v0=${hmac}`,
  };
  const answer = await fetch(`${stage.url}/slack/events`, { method: 'POST', headers, body });
  return answer.status;
}

test('what a field held before another choice made it vanish is not asked for', async () => {
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
  expect(await sendSigned(stage, payload)).toBe(200);
  const preview = JSON.stringify(await stage.privateWord(ANA, 'Create endpoint for'));
  expect(preview).toContain('vpce-svc-1');
  expect(preview).not.toContain('left over');
});
