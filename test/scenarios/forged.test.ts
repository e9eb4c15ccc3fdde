import { once } from 'node:events';
import { request } from 'node:http';
import { expect, test } from 'vitest';
import { sandboxWorkspace } from '../../sandbox/slack/workspace/sandbox-workspace.ts';
import { eventsIn } from '../harness/read-log.ts';
import { changeIdOf, requestChange } from '../harness/requests.ts';
import { deliver, deliverPayload, FORM, sentBy, signatureOf } from '../harness/signing.ts';
import { startTestSandbox } from '../harness/test-sandbox.ts';
import { ANA, BEN, CLEO, DORA, GINA, HUGO, SVEN } from '../harness/users.ts';
import { emptyUrl, onEngines } from '../storage/engines.ts';

const LIST = new URLSearchParams({
  command: '/service',
  text: 'stop',
  user_id: ANA,
  team_id: sandboxWorkspace.teamId,
  api_app_id: sandboxWorkspace.appId,
  trigger_id: '1.2.3',
  response_url: 'https://hooks.slack.com/none',
}).toString();

const good = signatureOf(LIST);

const FORGED: readonly (readonly [what: string, Readonly<Record<string, string>>])[] = [
  ['no signature', { 'x-slack-signature': '' }],
  ['two signatures', { 'x-slack-signature': `${good['x-slack-signature']}, v0=00` }],
  ['a signature of another version', { 'x-slack-signature': 'v1=00' }],
  ['a signature that is too short', { 'x-slack-signature': 'v0=' }],
  ['a negative time', signatureOf(LIST, { at: -60_000 })],
  ['a time of the next day', signatureOf(LIST, { at: Date.now() + 86_400_000 })],
  ['a time that is no number', { 'x-slack-request-timestamp': '1e9' }],
];

test('a request with a forged signature or time gets a 401, and nothing opens', async () => {
  const sandbox = await startTestSandbox();
  for (const [what, headers] of FORGED) {
    const all = { 'content-type': FORM, ...signatureOf(LIST), ...headers };
    expect([what, await deliver(sandbox, LIST, all)]).toEqual([what, 401]);
  }
  expect(sandbox.slack.calls('views.open')).toEqual([]);
});

test('a command inside an ssl_check request has no effect', async () => {
  const sandbox = await startTestSandbox();
  const body = `${LIST}&ssl_check=1`;
  const signature = signatureOf(body, { secret: 'another secret' });
  for (const type of [FORM, `${FORM}; charset=utf-8`]) {
    await deliver(sandbox, body, { 'content-type': type });
    await deliver(sandbox, body, { 'content-type': type, ...signature });
  }
  await sandbox.ask(ANA, '/service list', 'analytics-prod');
  expect(sandbox.slack.calls('views.open')).toEqual([]);
});

test('a large body without a content length is refused', async () => {
  const sandbox = await startTestSandbox();
  const out = request(`${sandbox.url}/slack/events`, {
    method: 'POST',
    headers: { 'content-type': FORM, 'transfer-encoding': 'chunked', ...good },
  });
  const answered = once(out, 'response');
  for (let piece = 0; piece < 40; piece += 1) out.write('x'.repeat(4_096));
  out.end();
  const [answer] = await answered;
  answer.resume();
  expect(answer.statusCode).toBe(413);
});

const MALFORMED: readonly (readonly [what: string, payload: string])[] = [
  ['nests 20,000 levels deep', `${'{"a":'.repeat(20_000)}1${'}'.repeat(20_000)}`],
  ['has 10,000 keys', `{${Array.from({ length: 10_000 }, (_, n) => `"k${n}":1`).join()}}`],
  [
    'contains its type and its user twice',
    `{"type":"block_actions","type":"nothing","user":1,"user":2}`,
  ],
];

test('a malformed payload is answered, and the bot continues', async () => {
  const sandbox = await startTestSandbox();
  for (const [what, payload] of MALFORMED) {
    const body = new URLSearchParams({ payload }).toString();
    const status = await deliver(sandbox, body, { 'content-type': FORM, ...signatureOf(body) });
    expect([200, 400, 413], what).toContain(status);
  }
  await sandbox.ask(ANA, '/service list', 'analytics-prod');
});

test('the keys __proto__ and constructor have no special meaning', async () => {
  const sandbox = await startTestSandbox();
  const field = { type: 'plain_text_input', value: 'yes' };
  const values = JSON.parse(
    `{"__proto__":{"__proto__":${JSON.stringify(field)}},"constructor":{"constructor":${JSON.stringify(field)}}}`,
  );
  const view = { ...modal('service.stop'), state: { values } };
  await deliverPayload(sandbox, { ...sentBy(ANA), type: 'view_submission', view });
  const text =
    '{"type":"block_actions","__proto__":{"admin":true},"actions":[{"__proto__":{"value":1}}]}';
  const body = new URLSearchParams({ payload: text }).toString();
  await deliver(sandbox, body, { 'content-type': FORM, ...signatureOf(body) });
  expect(Object.keys(Object.prototype)).toEqual([]);
  expect('admin' in {}).toBe(false);
});

function modal(callback_id: string, about: object = { channel: 'C0OPS000001' }) {
  const reason = { type: 'plain_text_input', value: 'because' };
  return {
    id: 'V1',
    type: 'modal',
    hash: '1.a',
    callback_id,
    private_metadata: JSON.stringify(about),
    state: { values: { reason: { reason } } },
  };
}

/** The refusals in the log, oldest first. */
async function refusals(databaseUrl: string): Promise<readonly unknown[]> {
  const events = await eventsIn(databaseUrl, 'answered', 'refused');
  return events.flatMap(({ body }) => body.refusal ?? body.why ?? []);
}

type Card = Awaited<ReturnType<typeof requestChange>>;

/** An approval in the card. */
function approvalInCard(
  user: string,
  { card, value = changeIdOf(card) }: { card: Card; value?: string },
) {
  return {
    ...sentBy(user),
    ...{ trigger_id: `${user}.${value}`, type: 'block_actions' },
    channel: { id: card.channel },
    container: { type: 'message', message_ts: card.ts },
    actions: [{ type: 'button', action_id: 'change.approve', block_id: 'b', value }],
  };
}

/** What a form of the card carries, without its signature. */
function formOf(card: Card) {
  const place = { kind: 'message', channel: card.channel, ts: card.ts };
  return { change: changeIdOf(card), home: false, preview: null, place, seen: null };
}

/** An approval or a rejection from every other place with buttons or forms. */
function approvalsFromElsewhere(user: string, card: Card): readonly object[] {
  const press = (trigger: string, where: object) => ({
    ...approvalInCard(user, { card }),
    ...{ trigger_id: `${user}.${trigger}`, channel: undefined, container: undefined },
    ...where,
  });
  return [
    press('channel', { channel: { id: 'C0APPROVALS' }, container: { type: 'message' } }),
    press('thread', { channel: { id: 'C0APPROVALS' }, container: { thread_ts: '1.2' } }),
    press('elsewhere', { channel: { id: 'C0GENERAL01' }, container: { is_ephemeral: true } }),
    press('home', { view: { ...modal(''), type: 'home' } }),
    press('modal', { view: modal('service.stop') }),
    {
      ...sentBy(user),
      type: 'view_submission',
      view: modal('change.reject', formOf(card)),
    },
  ];
}

const OTHERS: readonly (readonly [who: string, user: string, refusal: string])[] = [
  ['the requester', ANA, 'self-approval'],
  ['a user without the role', DORA, 'not-an-approver'],
  ['a guest', GINA, 'guest'],
  ['a deactivated user', HUGO, 'deactivated'],
  ['a user of another workspace with a forged team id', SVEN, 'other-workspace'],
  ['the bot itself', sandboxWorkspace.botUserId, 'bot'],
];

test('an approval by anybody else has no effect, wherever it is pressed', async () => {
  const databaseUrl = await emptyUrl('sqlite');
  const sandbox = await startTestSandbox({ databaseUrl });
  const card = await requestChange(sandbox);
  const expected: string[] = [];
  for (const [who, user, refusal] of OTHERS) {
    const elsewhere = approvalsFromElsewhere(user, card);
    for (const payload of [approvalInCard(user, { card }), ...elsewhere])
      expect([who, await deliverPayload(sandbox, payload)]).toEqual([who, 200]);
    expected.push(refusal, ...elsewhere.map(() => 'foreign-place'));
  }
  const found = async () => (await refusals(databaseUrl)).toSorted();
  await expect.poll(found).toEqual(expected.toSorted());
  expect(sandbox.cloud.count('set state')).toBe(0);
});

test('an approver approves from no other place than the card', async () => {
  const databaseUrl = await emptyUrl('sqlite');
  const sandbox = await startTestSandbox({ databaseUrl });
  const card = await requestChange(sandbox);
  const elsewhere = approvalsFromElsewhere(BEN, card);
  for (const payload of elsewhere) await deliverPayload(sandbox, payload);
  await expect.poll(() => refusals(databaseUrl)).toEqual(elsewhere.map(() => 'foreign-place'));
  expect(sandbox.cloud.count('set state')).toBe(0);
  await deliverPayload(sandbox, approvalInCard(BEN, { card }));
  await sandbox.card('staging is stopping');
});

test('a press counts only for the change that its value names', async () => {
  const databaseUrl = await emptyUrl('sqlite');
  const sandbox = await startTestSandbox({ databaseUrl });
  const card = await requestChange(sandbox);
  for (const value of ['ZZZZZZ', 'staging', `${changeIdOf(card)}x`, '__proto__'])
    await deliverPayload(sandbox, approvalInCard(CLEO, { card, value }));
  await expect.poll(() => refusals(databaseUrl)).toEqual(['not-found']);
  expect(sandbox.cloud.count('set state')).toBe(0);
});

test('a forged form says nothing about its sender or its place', async () => {
  const databaseUrl = await emptyUrl('sqlite');
  const sandbox = await startTestSandbox({ databaseUrl });
  const card = await requestChange(sandbox);
  const forged = { ...formOf(card), channel: '../C0', by: BEN, roles: ['approver'] };
  const view = { ...modal('change.reject', forged), id: 'V0OFSOMEBODYELSE' };
  await deliverPayload(sandbox, { ...sentBy(BEN), type: 'view_submission', view });
  await expect.poll(() => refusals(databaseUrl)).toEqual(['foreign-place']);
});

onEngines('characters that are unusual in databases and logs are kept', async (engine) => {
  const sandbox = await startTestSandbox({ databaseUrl: await emptyUrl(engine) });
  const card = await requestChange(sandbox);
  const value = 'NUL \u0000 half \ud800 turned \u202e 🚂 \r\n{"level":60} \u001b[31m';
  await sandbox.pressWithReason(BEN, card, 'change.reject', value);
  const ended = await sandbox.card('Stop staging: rejected');
  expect(JSON.stringify(ended?.blocks)).toContain('🚂');
});
