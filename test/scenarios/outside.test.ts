import { expect, test } from 'vitest';
import { sandboxWorkspace } from '../../sandbox/slack/workspace/sandbox-workspace.ts';
import { createLog } from '../../src/base/log.ts';
import { REFUSED } from '../harness/refused.ts';
import { changeIdOf, requestChange } from '../harness/requests.ts';
import { deliver, deliverPayload, FORM, sentBy, signatureOf } from '../harness/signing.ts';
import { startTestSandbox, type TestSandbox } from '../harness/test-sandbox.ts';
import { ANA, BEN, CLEO, SVEN } from '../harness/users.ts';

const LIST = {
  command: '/service',
  text: 'list',
  user_id: ANA,
  channel_id: 'C0OPS000001',
  team_id: sandboxWorkspace.teamId,
  api_app_id: sandboxWorkspace.appId,
  trigger_id: '1.2.3',
};

const LATE = { at: Date.now() - 365_000 };

interface Forged {
  readonly secret?: string;
  readonly at?: number;
  readonly charset?: string;
  readonly unsigned?: true;
  readonly fields?: Readonly<Record<string, string>>;
}

function send(sandbox: TestSandbox, { fields = {}, charset = '', unsigned, ...signed }: Forged) {
  const response_url = `${sandbox.slack.url}/response/none`;
  const body = new URLSearchParams({ ...LIST, response_url, ...fields }).toString();
  return deliver(sandbox, body, {
    'content-type': FORM + charset,
    ...(unsigned ? {} : signatureOf(body, signed)),
  });
}

test.for<[string, 'clock' | 'signature' | 'unsigned', RegExp, Forged]>([
  ['without a signature', 'unsigned', /has no signature/, { unsigned: true }],
  [
    'of a machine whose clock is ahead',
    'clock',
    /clock of this machine is [\d.]+ (s|min) ahead of/,
    LATE,
  ],
  [
    'that was signed with another secret',
    'signature',
    /that of another app/,
    { secret: 'another secret' },
  ],
])('a payload %s is counted, and reported once', async ([, why, words, forged]) => {
  const lines: string[] = [];
  const log = createLog({ level: 'warn' }, { write: (line) => lines.push(line) });
  const sandbox = await startTestSandbox({ log });
  for (let n = 0; n < 3; n += 1) expect(await send(sandbox, forged)).toBe(401);
  await expect.poll(() => lines).toEqual([expect.stringMatching(words)]);
  const metrics = await (await fetch(`${sandbox.url}/metrics`)).text();
  expect(metrics).toContain(`signalbox_deliveries_refused_total{reason="${why}"} 3`);
});

test.for([
  ['another workspace', { team_id: 'T0ELSEWHERE' }],
  ['another app', { api_app_id: 'A0ELSEWHERE' }],
] as const)('a signed request of %s is acknowledged without effect', async ([, fields]) => {
  const errors: string[] = [];
  const log = createLog({ level: 'error' }, { write: (line) => errors.push(line) });
  const sandbox = await startTestSandbox({ log });
  // Without a service the command opens a form, which is a visible effect.
  expect(await send(sandbox, { fields: { ...fields, text: 'stop' } })).toBe(200);
  expect(await send(sandbox, { fields: { text: 'stop', trigger_id: '4.5.6' } })).toBe(200);
  await expect.poll(() => sandbox.slack.calls('views.open').length).toBeGreaterThan(0);
  const triggers = sandbox.slack.calls('views.open').map(({ args }) => args.trigger_id);
  expect(triggers).toEqual(['4.5.6']);
  // The sender named the address of the answer, which does not exist.
  expect(errors).toEqual([]);
});

test('a body that is too large is refused before it is read', async () => {
  const sandbox = await startTestSandbox();
  expect(await send(sandbox, { fields: { text: 'x'.repeat(140_000) } })).toBe(413);
});

test.for([
  ['null', 'application/json', 'null'],
  ['a list', 'application/json', '[]'],
  ['not JSON', 'application/json', '{'],
  ['a payload of null', 'application/x-www-form-urlencoded', 'payload=null'],
  ['a payload of text', 'application/x-www-form-urlencoded', 'payload=%22x%22'],
  ['two payloads', 'application/x-www-form-urlencoded', 'payload=%7B%7D&payload=%7B%7D'],
] as const)('a signed body that is %s is refused without a crash', async ([, type, body]) => {
  const sandbox = await startTestSandbox();
  const headers = { 'content-type': type, ...signatureOf(body) };
  expect(await deliver(sandbox, body, headers)).toBe(400);
  expect(await send(sandbox, {})).toBe(200);
});

test.for([
  ['a payload type without a handler', { type: 'view_closed' }],
  ['a payload type that does not exist', { type: 'dream_submission' }],
  ['a press without actions', { type: 'block_actions', actions: [] }],
  ['a press without an action id', { type: 'block_actions', actions: [{ type: 'button' }] }],
  ['a form without a callback id', { type: 'view_submission', view: { id: 'V1', type: 'modal' } }],
  ['a search without an action id', { type: 'block_suggestion', block_id: 'x', value: 'x' }],
  ['a shortcut without a callback id', { type: 'shortcut' }],
] as const)('%s is acknowledged at once, without effect', async ([, fields]) => {
  const sandbox = await startTestSandbox();
  const view = { id: 'V1', type: 'modal', callback_id: 'service.stop', state: { values: {} } };
  // Bolt alone would answer with 404 after three seconds.
  expect(await deliverPayload(sandbox, { ...sentBy(ANA), view, ...fields })).toBe(200);
});

test.for([
  ['without its trigger id', { trigger_id: undefined }],
  ['without a user', { user: { team_id: sandboxWorkspace.teamId } }],
  ['with an invalid user id', { user: { id: '../U1', team_id: sandboxWorkspace.teamId } }],
  ['with actions that are not a list', { actions: 7 }],
] as const)('a press %s is not acknowledged', async ([, fields]) => {
  const sandbox = await startTestSandbox();
  const value = 'ZZZZZZ';
  const actions = [{ type: 'button', action_id: 'change.approve', block_id: 'x', value }];
  const pressed = { ...sentBy(ANA), type: 'block_actions', actions, ...fields };
  expect(await deliverPayload(sandbox, pressed)).toBe(500);
  expect(await send(sandbox, {})).toBe(200);
});

test('a click that is delivered twice counts once', async () => {
  const sandbox = await startTestSandbox();
  const card = await requestChange(sandbox, ANA, '/service stop analytics-prod for the night');
  const value = changeIdOf(card);
  const click = {
    ...{ ...sentBy(BEN), type: 'block_actions', channel: { id: card.channel } },
    container: { type: 'message', message_ts: card.ts, channel_id: card.channel },
    actions: [{ type: 'button', action_id: 'change.approve', block_id: 'x', value }],
  };
  for (let n = 0; n < 2; n += 1) expect(await deliverPayload(sandbox, click)).toBe(200);
  await sandbox.card('1 of 2');
  // Cleo's press is handled after both of Ben's. Had Ben's counted twice, he would have a second answer.
  await sandbox.press(CLEO, card, 'change.approve');
  await sandbox.card('analytics-prod is stopping');
  const words = sandbox.slack.clientState(BEN).messages.map(({ text }) => text);
  expect(words.filter((text) => text.includes(REFUSED.alreadyApproved))).toEqual([]);
  expect(sandbox.cloud.count('set state')).toBe(1);
});

test('the value of a field that a later choice hides is not sent', async () => {
  const sandbox = await startTestSandbox();
  const text = (name: string, value: string) => ({
    [name]: { [name]: { type: 'plain_text_input', value } },
  });
  const chosen = (name: string, value: string) => {
    const selected_option = { text: { type: 'plain_text', text: value }, value };
    return { [name]: { [name]: { type: 'static_select', selected_option } } };
  };
  const values = {
    ...chosen('service', '2f7c9d34-5f0e-4f0a-8f58-0f6f0b1c2d3e'),
    ...chosen('type', 'VPC_ENDPOINT_SERVICE'),
    ...text('description', 'orders'),
    ...text('vpcEndpointServiceName', 'vpce-svc-0a1b2c3d'),
    ...text('vpcResourceShareArn', 'left over from another type'),
    ...text('reason', 'for the feed'),
  };
  const private_metadata = JSON.stringify({ channel: 'C0OPS000001' });
  const form = { id: 'V0RAW', type: 'modal', hash: '1.abc', callback_id: 'endpoint.create' };
  const view = { ...form, private_metadata, state: { values } };
  const payload = { ...sentBy(ANA), type: 'view_submission', view };
  expect(await deliverPayload(sandbox, payload)).toBe(200);
  const preview = JSON.stringify(await sandbox.privateMessage(ANA, 'Create endpoint for'));
  expect(preview).toContain('vpce-svc-0a1b2c3d');
  expect(preview).not.toContain('left over');
});

test.for([
  ['through a gateway that adds a charset', { charset: '; charset=utf-8' }],
  ['with an invalid response URL', { fields: { response_url: 'none' } }],
] as const)('a command %s is answered', async ([, given]) => {
  const sandbox = await startTestSandbox();
  expect(await send(sandbox, given)).toBe(200);
  await sandbox.privateMessage(ANA, '12 services');
});

let eventNumber = 0;

/** Delivers an event as Slack signs it; `fields` of its envelope replace the usual ones. */
function sendEvent(sandbox: TestSandbox, event: object, fields: object = {}) {
  const { teamId, appId } = sandboxWorkspace;
  eventNumber += 1;
  const body = JSON.stringify({
    ...{
      type: 'event_callback',
      team_id: teamId,
      api_app_id: appId,
      event,
      event_id: `Ev${eventNumber}`,
    },
    ...fields,
  });
  const headers = { 'content-type': 'application/json', ...signatureOf(body) };
  return deliver(sandbox, body, headers);
}

test.for<[string, object]>([
  ['lists only tokens of users', { tokens: { oauth: [ANA] } }],
  ['lists the token of another bot', { tokens: { oauth: [], bot: ['U0ANOTHER01'] } }],
  ['lists nothing', { tokens: {} }],
  ['has no list', {}],
  ['has null as its list', { tokens: null }],
])('an event about revoked tokens that %s leaves the bot ready', async ([, fields]) => {
  const lines: string[] = [];
  const log = createLog({ level: 'error' }, { write: (line) => lines.push(line) });
  const sandbox = await startTestSandbox({ log });
  expect(await sendEvent(sandbox, { type: 'tokens_revoked', ...fields })).toBe(200);
  expect(await send(sandbox, {})).toBe(200);
  expect((await fetch(`${sandbox.url}/readyz`)).status).toBe(200);
  expect(lines).toEqual([]);
});

const HOST = { team_id: 'T0PARTNERS1' };
const OURS = { team_id: sandboxWorkspace.teamId, enterprise_id: null };

test.for<[string, object, 'answered' | 'refused']>([
  ['names this workspace beside its host', { ...HOST, context_team_id: OURS.team_id }, 'answered'],
  ['has an installation of ours', { ...HOST, authorizations: [OURS] }, 'answered'],
  ['has ours behind another one', { ...HOST, authorizations: [HOST, OURS] }, 'answered'],
  [
    'has no installations',
    { ...HOST, authorizations: [], context_team_id: OURS.team_id },
    'answered',
  ],
  ['names its host alone', HOST, 'refused'],
  ['has installations of others', { ...HOST, authorizations: [HOST] }, 'refused'],
  ['has null for all', { ...HOST, authorizations: null, context_team_id: null }, 'refused'],
])('a mention in a channel of a partner that %s', async ([, envelope, ending]) => {
  const sandbox = await startTestSandbox();
  const text = `<@${sandboxWorkspace.botUserId}> service list`;
  const mention = { type: 'app_mention', user: ANA, channel: 'C0PARTNERS1', text, ts: '1.2' };
  expect(await sendEvent(sandbox, mention, envelope)).toBe(200);
  expect(await sendEvent(sandbox, { ...mention, text: 'signalbox help' })).toBe(200);
  await expect.poll(() => sandbox.slack.calls('chat.postEphemeral').length).toBeGreaterThan(0);
  const answers = () => JSON.stringify(sandbox.slack.calls('chat.postEphemeral'));
  if (ending === 'answered') await expect.poll(answers).toContain('12 services');
  else expect(answers()).not.toContain('12 services');
});

test('a direct message of a person of another organization is refused in words', async () => {
  const sandbox = await startTestSandbox();
  const written = { type: 'message', channel_type: 'im', user: SVEN, channel: 'D0CONNECT01' };
  const message = { ...written, text: 'service list', ts: '1.2' };
  expect(await sendEvent(sandbox, message, { ...HOST, authorizations: [OURS] })).toBe(200);
  const posted = () => JSON.stringify(sandbox.slack.calls('chat.postMessage'));
  await expect.poll(posted).toContain(REFUSED.otherWorkspace);
  expect(posted()).not.toContain('12 services');
});

test.for([
  ['without a signature', { 'x-slack-signature': null }],
  ['without a timestamp', { 'x-slack-request-timestamp': null }],
  ['with a timestamp in milliseconds', { 'x-slack-request-timestamp': `${Date.now()}` }],
] as const)('a payload %s is refused', async ([, fields]) => {
  const sandbox = await startTestSandbox();
  const body = new URLSearchParams(LIST).toString();
  const all = { 'content-type': FORM, ...signatureOf(body), ...fields };
  const headers = Object.entries(all).filter((each): each is [string, string] => each[1] !== null);
  expect(await deliver(sandbox, body, Object.fromEntries(headers))).toBe(401);
});

test.for([
  ['just inside', 295, 200],
  ['just outside', 305, 401],
])('a payload whose time is %s the limit of five minutes', async ([, seconds, status]) => {
  const sandbox = await startTestSandbox();
  for (const at of [Date.now() - Number(seconds) * 1_000, Date.now() + Number(seconds) * 1_000])
    expect(await send(sandbox, { at, fields: { trigger_id: `${at}` } })).toBe(status);
});

test('Slack saying that it limits events is acknowledged and logged in words', async () => {
  const lines: string[] = [];
  const log = createLog({ level: 'warn' }, { write: (line) => lines.push(line) });
  const sandbox = await startTestSandbox({ log });
  const body = JSON.stringify({ type: 'app_rate_limited', minute_rate_limited: 1518467820 });
  const headers = { 'content-type': 'application/json', ...signatureOf(body) };
  expect(await deliver(sandbox, body, headers)).toBe(200);
  expect(lines.join('')).toContain('Slack sends no events for some minutes');
  expect(lines.join('')).not.toContain('stack');
});
