import { expect, test } from 'vitest';
import type { Json } from '../../../sandbox/json.ts';
import { messageOf } from '../../../sandbox/page/text/permalink.ts';
import { words } from './block-samples.ts';
import { ana, approvals, emil, general, hugo, manifest, startSlack, sven } from './bolt-app.ts';
import { clientOf, outcome } from './client.ts';

const secret = {
  id: 'C0SECRET001',
  name: 'secret',
  kind: 'private',
  topic: '',
  members: [ana],
  archived: false,
} as const;

test.for<[string, Json, string]>([
  ['where the app is not a member', { channel: general, text: 'x' }, 'not_in_channel'],
  ['in an unknown channel', { channel: 'C0NOWHERE01', text: 'x' }, 'channel_not_found'],
  ['in a private channel of others', { channel: secret.id, text: 'x' }, 'channel_not_found'],
  ['in an archived channel', { channel: '#ops', text: 'x' }, 'is_archived'],
  ['without text', {}, 'no_text'],
  ['with unknown blocks', { blocks: [{ type: 'x' }] }, 'invalid_blocks'],
  ['with blocks that are not JSON', { blocks: '{' }, 'invalid_blocks_format'],
  ['with markdown_text', { markdown_text: 'x' }, 'invalid_arguments'],
  ['in an unknown thread', { text: 'x', thread_ts: '1.2' }, 'thread_not_found'],
  ['to a deactivated user', { channel: hugo, text: 'x' }, 'channel_not_found'],
])('Slack refuses a message %s', async ([, args, error]) => {
  await expectRefused('chat.postMessage', { channel: approvals, ...args }, error);
});

const UPDATE = { channel: approvals, ts: '1.2', text: 'x' };
const EPHEMERAL = { channel: approvals, user: sven, text: 'x' };
const LINK = { channel: approvals, message_ts: '1.2' };
const HOME = { user_id: 'U0NOBODY001', view: {} };

test.for<[string, string, Json, string]>([
  ['an ephemeral message to a non-member', 'chat.postEphemeral', EPHEMERAL, 'user_not_in_channel'],
  ['an update of an unknown message', 'chat.update', UPDATE, 'message_not_found'],
  ['a person as channel', 'chat.update', { ...UPDATE, channel: ana }, 'channel_not_found'],
  ['a link to no message', 'chat.getPermalink', LINK, 'message_not_found'],
  ['a link to no channel', 'chat.getPermalink', {}, 'channel_not_found'],
  ['a hidden link', 'chat.getPermalink', { ...LINK, channel: secret.id }, 'channel_not_found'],
  ['an unknown user', 'users.info', { user: 'U0NOBODY001' }, 'user_not_found'],
  ['no group', 'usergroups.users.list', { usergroup: 'S0NOTHING01' }, 'no_such_subteam'],
  ['a handle for an id', 'usergroups.users.list', { usergroup: 'db-leads' }, 'no_such_subteam'],
  ['a thread of no message', 'conversations.replies', UPDATE, 'thread_not_found'],
  ['a private channel', 'conversations.info', { channel: secret.id }, 'channel_not_found'],
  ['no person to open', 'conversations.open', {}, 'users_list_not_supplied'],
  ['an unknown person', 'conversations.open', { users: 'U0NOBODY001' }, 'user_not_found'],
  ['a deactivated person', 'conversations.open', { users: hugo }, 'user_disabled'],
  ['its own conversation', 'conversations.open', { users: 'U0SIGNALBOX' }, 'cannot_dm_bot'],
  ['a group conversation', 'conversations.open', { users: `${ana},${emil}` }, 'missing_scope'],
  ['an unknown method', 'chat.shout', {}, 'unknown_method'],
  ['a Home tab of an unknown user', 'views.publish', HOME, 'user_not_found'],
  ['the wrong token', 'apps.connections.open', {}, 'not_allowed_token_type'],
])('Slack refuses %s', ([, method, args, error]) => expectRefused(method, args, error));

async function expectRefused(method: string, args: Json, error: string): Promise<void> {
  const slack = await startSlack();
  slack.admin.addChannel({ ...secret, members: [...secret.members] });
  slack.admin.archive('ops');
  expect(await outcome(clientOf(slack).apiCall(method, args))).toBe(error);
  expect(slack.calls(method)).toMatchObject([{ reply: { ok: false, error } }]);
}

test('a call needs the right token', async () => {
  const slack = await startSlack();
  // The app of another start, which was on the same port before.
  const { botToken } = await startSlack();
  expect(await outcome(clientOf(slack, botToken).auth.test())).toBe('invalid_auth');
  expect(await outcome(clientOf(slack, '').auth.test())).toBe('not_authed');
  expect(await outcome(clientOf(slack).auth.test())).toBe('ok');
  const connection = clientOf(slack, slack.appToken).apiCall('apps.connections.open');
  expect(await outcome(connection)).toBe('socket_mode_not_enabled');
});

test('replies list the scopes, and a missing scope is named', async () => {
  const scopes = { bot: ['chat:write', 'users:read'] };
  const slack = await startSlack({ manifest: { ...manifest, oauth_config: { scopes } } });
  const client = clientOf(slack);
  const { response_metadata } = await client.auth.test();
  expect(response_metadata).toMatchObject({ scopes: ['chat:write', 'users:read'] });
  await expect(client.usergroups.list()).rejects.toMatchObject({
    data: { error: 'missing_scope', needed: 'usergroups:read', provided: 'chat:write,users:read' },
  });
  await expect(client.conversations.info({ channel: approvals })).rejects.toMatchObject({
    data: { error: 'missing_scope', needed: 'channels:read' },
  });
});

test('an update with only a text removes the blocks; more than 4000 characters are refused', async () => {
  const slack = await startSlack();
  const { chat } = clientOf(slack);
  const text = { type: 'mrkdwn' as const, text: 'x' };
  const blocks = [{ type: 'section' as const, text }];
  const { ts = '' } = await chat.postMessage({ channel: approvals, text: 'x', blocks });
  await chat.update({ channel: approvals, ts, text: 'y', blocks });
  expect(slack.messages(approvals)[0]?.blocks).toHaveLength(1);
  await chat.update({ channel: approvals, ts, text: 'z' });
  expect(slack.messages(approvals)).toMatchObject([{ text: 'z', blocks: [] }]);
  const long = chat.update({ channel: approvals, ts, text: words(4001) });
  expect(await outcome(long)).toBe('msg_too_long');
});

test('the permalink of a reply names its thread', async () => {
  const slack = await startSlack();
  const { chat } = clientOf(slack);
  const { ts = '' } = await chat.postMessage({ channel: approvals, text: 'card' });
  const reply = await chat.postMessage({ channel: approvals, text: 'reply', thread_ts: ts });
  const link = async (message_ts = '') =>
    (await chat.getPermalink({ channel: approvals, message_ts })).permalink;
  const place = (of = '') => `.slack.com/archives/${approvals}/p${of.replace('.', '')}`;
  expect(await link(ts)).toBe(`https://signalbox-sandbox${place(ts)}`);
  expect(await link(reply.ts)).toContain(`${place(reply.ts)}?thread_ts=${ts}&cid=${approvals}`);
  const leadsTo = async (of = '') => messageOf((await link(of)) ?? '');
  expect(await leadsTo(ts)).toEqual({ channel: approvals, message: ts, thread: null });
  expect(await leadsTo(reply.ts)).toEqual({ channel: approvals, message: reply.ts, thread: ts });
  const posted = await chat.postEphemeral({ channel: approvals, user: emil, text: 'private' });
  expect(await outcome(link(posted.message_ts))).toBe('message_not_found');
});

test('the app can update only its own messages', async () => {
  const slack = await startSlack();
  const { chat } = clientOf(slack);
  await slack.sendMessage({ as: ana, channel: approvals, text: 'mine' });
  const ts = slack.messages(approvals)[0]?.ts ?? '';
  const update = chat.update({ channel: approvals, ts, text: 'x' });
  expect(await outcome(update)).toBe('cant_update_message');
});

test('an ephemeral message is visible to one user and cannot be updated', async () => {
  const slack = await startSlack();
  const { chat } = clientOf(slack);
  const posted = await chat.postEphemeral({ channel: approvals, user: emil, text: 'No.' });
  expect(slack.clientState(emil).messages).toMatchObject([{ text: 'No.', ephemeral: true }]);
  expect(slack.clientState(ana).messages).toEqual([]);
  const ts = posted.message_ts ?? '';
  const update = chat.update({ channel: approvals, ts, text: 'x' });
  expect(await outcome(update)).toBe('message_not_found');
});

test('a message to a user is posted in the direct conversation with the app', async () => {
  const slack = await startSlack();
  const client = clientOf(slack);
  const { channel: opened } = await client.conversations.open({ users: ana });
  const posted = await client.chat.postMessage({ channel: ana, text: 'Only you' });
  expect(posted.channel).toBe(opened?.id);
  expect(slack.clientState(ana).channels).toContainEqual(
    expect.objectContaining({ id: posted.channel, kind: 'dm', unread: 1 }),
  );
  expect(slack.clientState(emil).messages).toEqual([]);
});

test('the history is returned newest first, and a thread in order', async () => {
  const slack = await startSlack();
  const { chat, conversations } = clientOf(slack);
  const metadata = { event_type: 'change', event_payload: { id: '7KQ2MX' } };
  const first = await chat.postMessage({ channel: approvals, text: 'one', metadata });
  const thread_ts = first.ts ?? '';
  await chat.postMessage({ channel: approvals, text: 'reply', thread_ts });
  await chat.postMessage({ channel: approvals, text: 'two' });
  await chat.postEphemeral({ channel: approvals, user: emil, text: 'private' });
  const history = await conversations.history({ channel: approvals, include_all_metadata: true });
  expect(history.messages?.map(({ text }) => text)).toEqual(['two', 'one']);
  expect(history.messages?.[1]).toMatchObject({ metadata });
  const { messages } = await conversations.replies({ channel: approvals, ts: thread_ts });
  expect(messages?.map(({ text }) => text)).toEqual(['one', 'reply']);
});
