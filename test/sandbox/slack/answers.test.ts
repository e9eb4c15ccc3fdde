import { expect, test } from 'vitest';
import { record } from '../../../sandbox/json.ts';
import { actions, button, plain, section } from './block-samples.ts';
import { ana, approvals, ben, clock, general, startSlack, sven } from './bolt-app.ts';
import { clientOf, listener, outcome, posted } from './client.ts';

async function started(answer?: () => unknown) {
  const time = clock();
  const slack = await startSlack({ now: time.now });
  const received = await listener(slack, answer);
  const respond = async (body: object, url = String(received.at(-1)?.response_url)) => {
    const response = await fetch(url, { method: 'POST', body: JSON.stringify(body) });
    return response.status;
  };
  return { slack, received, respond, time, client: clientOf(slack) };
}

const texts = (slack: Awaited<ReturnType<typeof startSlack>>, person: string) =>
  slack.clientState(person).messages.map(({ text }) => text);

test('a public reply shows the typed command once', async () => {
  const { slack, respond } = await started();
  await slack.command(ana, general, '/service stop a<b');
  await respond({ text: 'First', response_type: 'in_channel' });
  await respond({ text: 'Second', response_type: 'in_channel' });
  expect(texts(slack, ben)).toEqual(['/service stop a&lt;b', 'First', 'Second']);
});

test('a response_url works five times', async () => {
  const { slack, respond } = await started();
  await slack.command(ana, general, '/service stop');
  const statuses: number[] = [];
  for (let n = 0; n < 6; n += 1) statuses.push(await respond({ text: `${n}` }));
  expect(statuses).toEqual([200, 200, 200, 200, 200, 404]);
});

test('a response_url answers 200 with ok: false on demand, and shows nothing', async () => {
  const { slack, received } = await started();
  await slack.command(ana, general, '/service stop');
  slack.failNext({ method: 'response_url', times: 1, how: { error: 'channel_is_archived' } });
  const url = String(received.at(-1)?.response_url);
  const answered = await fetch(url, { method: 'POST', body: JSON.stringify({ text: 'x' }) });
  expect(answered.status).toBe(200);
  expect(await answered.json()).toEqual({ ok: false, error: 'channel_is_archived' });
  expect(texts(slack, ana)).toEqual([]);
});

test('a response_url works for 30 minutes', async () => {
  const { slack, respond, time } = await started();
  await slack.command(ana, general, '/service stop');
  time.advance(30 * 60_000);
  expect(await respond({ text: 'still' })).toBe(200);
  time.advance(1);
  expect(await respond({ text: 'too late' })).toBe(404);
  expect(texts(slack, ana)).toEqual(['still']);
});

test('a reply with invalid blocks and an empty reply are refused', async () => {
  const { slack, respond } = await started();
  await slack.command(ana, general, '/service stop');
  expect(await respond({ blocks: [{ type: 'blink' }] })).toBe(400);
  expect(await respond({})).toBe(400);
  expect(texts(slack, ana)).toEqual([]);
});

test('an ephemeral message is not in the payload of a press, and can be replaced and deleted', async () => {
  const { slack, received, respond } = await started();
  await slack.command(ana, general, '/service stop');
  await respond({ text: 'Sure?', blocks: [actions(button({ action_id: 'yes' }))] });
  const [message] = slack.clientState(ana).messages;
  const place = { in: 'message', channel: general, ts: message?.ts ?? '' } as const;
  await slack.click(ana, place, 'yes');
  const container = { is_ephemeral: true, message_ts: place.ts };
  expect(received.at(-1)).toMatchObject({ container });
  expect(received.at(-1)).not.toHaveProperty('message');
  await respond({ text: 'Asked', replace_original: true });
  const [asked] = slack.clientState(ana).messages;
  expect(asked).toMatchObject({ ts: place.ts, text: 'Asked', blocks: [] });
  await respond({ delete_original: true });
  expect(texts(slack, ana)).toEqual([]);
});

test('a private reply does not replace a message that others see', async () => {
  const { slack, respond, client } = await started();
  const blocks = [actions(button({ action_id: 'yes' }))];
  const ts = await posted(client, { channel: approvals, text: 'Sure?', blocks });
  await slack.click(ben, { in: 'message', channel: approvals, ts }, 'yes');
  await respond({ text: 'Done', replace_original: true, response_type: 'ephemeral' });
  expect(texts(slack, ben)).toEqual(['Sure?', 'Done']);
  await respond({ text: 'Done', replace_original: true, response_type: 'in_channel' });
  expect(texts(slack, ben)).toEqual(['Done', 'Done']);
  await respond({ text: 'Over', replace_original: true });
  expect(texts(slack, ben)).toEqual(['Over', 'Done']);
});

test.for([
  ['an answer without replace_original', {}, 2],
  ['a private answer', { response_type: 'ephemeral', replace_original: true }, 2],
  ['an answer for everyone', { response_type: 'in_channel', replace_original: true }, 1],
] as const)(
  'in the direct messages of the app, %s leaves as many messages as in Slack',
  async ([, body, count]) => {
    const { slack, respond, client } = await started();
    const blocks = [actions(button({ action_id: 'yes' }))];
    const ts = await posted(client, { channel: ana, text: 'Sure?', blocks });
    await slack.click(ana, { in: 'message', channel: 'D0ANA00001', ts }, 'yes');
    expect(await respond({ text: 'Done', ...body })).toBe(200);
    expect(texts(slack, ana)).toHaveLength(count);
    await client.chat.update({ channel: 'D0ANA00001', ts, text: 'Replaced' });
    expect(texts(slack, ana)[0]).toBe('Replaced');
  },
);

test('a press in the Home tab has no response_url; the app replaces the tab whole', async () => {
  const { slack, received, client } = await started();
  const view = (id: string) => ({ type: 'home', blocks: [actions(button({ action_id: id }))] });
  const publish = (id: string, hash?: string) =>
    client.apiCall('views.publish', { user_id: ana, view: view(id), ...(hash && { hash }) });
  await publish('first');
  await slack.click(ana, { in: 'home' }, 'first');
  const pressed = record(received.at(-1));
  expect(pressed).toMatchObject({ type: 'block_actions', container: { type: 'view' } });
  expect(pressed).not.toHaveProperty('response_url');
  expect(pressed).not.toHaveProperty('message');
  const hash = String(record(pressed.view).hash);
  await publish('second', hash);
  expect(JSON.stringify(slack.clientState(ana).home)).not.toContain('first');
  expect(await outcome(publish('third', hash))).toBe('hash_conflict');
});

test('a reply to a button inside a thread appears there only with thread_ts', async () => {
  const { slack, respond, client } = await started();
  const top = await posted(client, { channel: approvals, text: 'A card' });
  const blocks = [actions(button({ action_id: 'yes' }))];
  const ts = await posted(client, { channel: approvals, text: 'Sure?', blocks, thread_ts: top });
  await slack.click(ben, { in: 'message', channel: approvals, ts }, 'yes');
  await respond({ text: 'In the channel' });
  await respond({ text: 'In the thread', thread_ts: top });
  const replies = slack.messages(approvals).filter(({ ephemeralFor }) => ephemeralFor === ben);
  expect(replies.map(({ threadTs }) => threadTs)).toEqual([null, top]);
});

test('the payload of a press has the user, the action, the channel and the message', async () => {
  const { slack, received, client } = await started();
  const approve = button({ action_id: 'approve', value: '7KQ2MX', text: plain('Approve') });
  const blocks = [section('Ana asks'), { ...actions(approve), block_id: 'buttons' }];
  const ts = await posted(client, { channel: approvals, text: 'x', blocks });
  await slack.click(ben, { in: 'message', channel: approvals, ts }, 'approve');
  expect(received.at(-1)).toMatchObject({
    type: 'block_actions',
    user: { id: ben, username: 'ben', team_id: 'T0SIGNALBOX' },
    team: { id: 'T0SIGNALBOX' },
    api_app_id: 'A0SIGNALBOX',
    container: { type: 'message', message_ts: ts, channel_id: approvals, is_ephemeral: false },
    channel: { id: approvals, name: 'db-approvals' },
    message: { ts, text: 'x', bot_id: 'B0SIGNALBOX' },
    actions: [{ ...approve, block_id: 'buttons', text: { text: 'Approve' } }],
  });
});

test('a user can press a button that an update has removed', async () => {
  const { slack, received, client } = await started();
  const blocks = [{ ...actions(button({ action_id: 'approve' })), block_id: 'b' }];
  const ts = await posted(client, { channel: approvals, text: 'x', blocks });
  await client.chat.update({ channel: approvals, ts, text: 'Approved' });
  const place = { in: 'message', channel: approvals, ts } as const;
  const element = { type: 'button', value: '7KQ2MX' };
  await slack.press({ as: ben, place, blockId: 'b', actionId: 'approve', element });
  const message = { text: 'Approved' };
  expect(received.at(-1)).toMatchObject({ actions: [{ value: '7KQ2MX' }], message });
});

test.for<[string, unknown, object]>([
  ['options', { options: [option('a')] }, { options: [option('a')], error: null }],
  ['no match', { options: [] }, { options: [], error: null }],
  ['groups', { option_groups: [group('a')] }, { options: [option('a')], error: null }],
  ['too long texts', { options: [option('x'.repeat(76))] }, { error: 'invalid_options' }],
  ['101 options', { options: many(101) }, { error: 'invalid_options' }],
  ['something else', { text: 'x' }, { error: 'invalid_options' }],
])('an external select with %s shows the options as Slack does', async ([, body, shown]) => {
  const { slack, received, client } = await started(() => body);
  const element = { type: 'external_select', action_id: 'service' };
  const blocks = [{ ...actions(element), block_id: 'b' }];
  const ts = await posted(client, { channel: approvals, text: 'x', blocks });
  const place = { in: 'message', channel: approvals, ts } as const;
  const searched = { as: ana, place, blockId: 'b', actionId: 'service', value: 'an' };
  expect(await slack.suggest(searched)).toMatchObject(shown);
  const suggestion = { type: 'block_suggestion', value: 'an', user: { id: ana } };
  expect(received.at(-1)).toMatchObject(suggestion);
});

function option(text: string) {
  return { text: { type: 'plain_text', text }, value: 'v' };
}
function group(text: string) {
  return { label: { type: 'plain_text', text: 'g' }, options: [option(text)] };
}
function many(count: number) {
  return Array.from({ length: count }, () => option('x'));
}

test('users of another workspace can press buttons but have no commands and shortcuts', async () => {
  const { slack, received, client } = await started();
  const blocks = [actions(button({ action_id: 'approve' }))];
  const channel = 'C0PARTNERS1';
  const ts = await posted(client, { channel, text: 'x', blocks });
  const place = { in: 'message', channel, ts } as const;
  await slack.click(sven, place, 'approve');
  expect(received).toMatchObject([{ user: { id: sven, team_id: 'T0PARTNERS1' } }]);
  expect(await slack.command(sven, channel, '/service list')).toMatchObject({
    error: '/service is not a valid command.',
  });
  await slack.shortcut({ as: sven, callbackId: 'service.stop' });
  expect(received).toHaveLength(1);
  expect(slack.clientState(sven)).toMatchObject({ commands: [], shortcuts: [] });
});

test('a command is delivered as typed; names in a message become ids', async () => {
  const { slack, received } = await started();
  const typed = 'stop @ana, #ops @db-leads a<b & https://example.org/?a=1&b=2';
  await slack.command(ana, general, `/service ${typed}`);
  expect(received.at(-1)).toMatchObject({ text: typed });
  await slack.sendMessage({ as: ana, channel: general, text: typed });
  expect(slack.messages(general).at(-1)?.text).toBe(
    `stop <@${ana}>, <#C0OPS000001|ops> <!subteam^S0DBLEADS01|@db-leads> ` +
      'a&lt;b &amp; <https://example.org/?a=1&amp;b=2>',
  );
});
