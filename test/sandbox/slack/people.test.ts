import { describe, expect, test } from 'vitest';
import { type Json, record } from '../../../sandbox/json.ts';
import { actions, button } from './block-samples.ts';
import {
  ana,
  approvals,
  ben,
  cleo,
  dora,
  emil,
  general,
  gina,
  hugo,
  startSlack,
  sven,
} from './bolt-app.ts';
import { clientOf, listener, posted } from './client.ts';

async function started() {
  const slack = await startSlack();
  const received = await listener(slack);
  const events = () => received.map(({ event }) => record(event));
  return { slack, received, events, client: clientOf(slack) };
}

const bot = 'U0SIGNALBOX';

test.for<[string, string, Json]>([
  ['a colleague', ana, { is_restricted: false, is_bot: false, deleted: false }],
  ['a guest', gina, { is_restricted: true, team_id: 'T0SIGNALBOX' }],
  ['a deactivated user', hugo, { deleted: true }],
  ['the app itself', bot, { is_bot: true }],
  ['an external user with a shared channel', sven, { is_stranger: false, team_id: 'T0PARTNERS1' }],
])('users.info returns the flags of %s', async ([, id, flags]) => {
  const { client } = await started();
  expect((await client.users.info({ user: id })).user).toMatchObject(flags);
});

test('an external user without a shared channel has the flag is_stranger', async () => {
  const { slack, client } = await started();
  slack.admin.kick('shared-partners', sven);
  const { user } = await client.users.info({ user: sven });
  expect(user).toMatchObject({ is_stranger: true, team_id: 'T0PARTNERS1' });
});

test('the user groups of the sandbox have their members, including a deactivated user', async () => {
  const { client } = await started();
  const { usergroups: bare = [] } = await client.usergroups.list();
  expect(bare.map(({ users }) => users)).toEqual([undefined, undefined, undefined]);
  const { usergroups } = await client.usergroups.list({ include_users: true });
  expect(Object.fromEntries(usergroups?.map(({ handle, users }) => [handle, users]) ?? [])).toEqual(
    {
      engineering: [ana, 'U0FINN0001', ben, 'U0CLEO0001', 'U0GUS00001', dora, gina],
      'db-operators': [ana, 'U0FINN0001'],
      'db-leads': [ben, 'U0CLEO0001', 'U0GUS00001', hugo],
    },
  );
});

describe('an administrator', () => {
  test('changes a group, and the app receives the difference and the new members', async () => {
    const { slack, events, client } = await started();
    const before = slack.workspace.groups.find(({ handle }) => handle === 'db-leads')?.updatedAt;
    await slack.admin.setGroup('db-leads', [ben, dora]);
    const [difference, whole] = events().toSorted((a, b) => (`${a.type}` < `${b.type}` ? -1 : 1));
    expect(difference).toMatchObject({
      type: 'subteam_members_changed',
      subteam_id: 'S0DBLEADS01',
      date_previous_update: before,
      added_users: [dora],
      removed_users: ['U0CLEO0001', 'U0GUS00001', hugo],
    });
    expect(whole).toMatchObject({ subteam: { users: [ben, dora], user_count: 2 } });
    const { users } = await client.usergroups.users.list({ usergroup: 'S0DBLEADS01' });
    expect(users).toEqual([ben, dora]);
  });

  test('sets 600 members, and the event contains 500', async () => {
    const { slack, events } = await started();
    const many = Array.from({ length: 600 }, (_, index) => `U0MANY${index}`);
    await slack.admin.setGroup('engineering', many);
    const whole = events().find(({ type }) => type === 'subteam_updated');
    expect(whole).toMatchObject({ subteam: { users: many.slice(0, 500), user_count: 600 } });
  });

  test('deactivates a user, who stays in the group but cannot act', async () => {
    const { slack, events, client } = await started();
    await slack.admin.deactivate(ben);
    expect(events()).toMatchObject([{ type: 'user_change', user: { id: ben, deleted: true } }]);
    const { users } = await client.usergroups.users.list({ usergroup: 'S0DBLEADS01' });
    expect(users).toContain(ben);
    await expect(slack.command(ben, general, '/service list')).rejects.toThrow('deactivated');
    expect(slack.clientState(ana).people).toContainEqual(
      expect.objectContaining({ id: ben, kind: 'deactivated' }),
    );
  });

  test('adds a user and changes a member to a guest', async () => {
    const { slack, events, client } = await started();
    await slack.admin.addPerson({
      id: 'U0NINA00001',
      name: 'nina',
      realName: 'Nina',
      title: 'New',
      kind: 'member',
      deleted: false,
      teamId: 'T0SIGNALBOX',
    });
    await slack.admin.changePerson(dora, { kind: 'guest' });
    expect(events().map(({ type }) => type)).toEqual(['team_join', 'user_change']);
    expect((await client.users.info({ user: dora })).user?.is_restricted).toBe(true);
  });
});

test('each user sees only the channels of which they are a member', async () => {
  const { slack } = await started();
  const seen = (id: string) => slack.clientState(id).channels.map(({ name }) => name);
  expect(seen(sven)).toEqual(['shared-partners']);
  expect(seen(gina)).toEqual(['general', 'ops', 'db-approvals']);
  expect(seen(emil)).not.toContain('shared-partners');
});

test('no user can act in a channel that they cannot see', async () => {
  const { slack, client, received } = await started();
  const blocks = [actions(button({ action_id: 'approve' }))];
  const ts = await posted(client, { channel: approvals, text: 'x', blocks });
  const place = { in: 'message', channel: approvals, ts } as const;
  await expect(slack.click(sven, place, 'approve')).rejects.toThrow('sees no message');
  await expect(slack.command(sven, general, '/service')).rejects.toThrow('is not in');
  await expect(slack.click(ana, place, 'reject')).rejects.toThrow(
    'no element with action_id reject',
  );
  await expect(slack.openHome({ as: bot })).rejects.toThrow('an app cannot act');
  expect(received).toEqual([]);
});

test('a channel is unread until the user opens it', async () => {
  const { slack, client } = await started();
  const unread = (id: string) =>
    slack.clientState(id).channels.find(({ name }) => name === 'db-approvals')?.unread;
  await client.chat.postMessage({ channel: approvals, text: 'x' });
  await slack.sendMessage({ as: ana, channel: approvals, text: 'y' });
  expect([unread(ana), unread(ben)]).toEqual([1, 2]);
  await fetch(`${slack.url}/sandbox/state?as=${ben}&channel=${approvals}`);
  expect([unread(ana), unread(ben)]).toEqual([1, 0]);
});

test('mentions and direct messages notify a user, other messages do not', async () => {
  const { slack, client } = await started();
  const channelOf = (id: string, name: string) =>
    slack.clientState(id).channels.find((channel) => channel.name === name);
  await slack.sendMessage({ as: ana, channel: approvals, text: 'hello' });
  const ts = await posted(client, { channel: approvals, text: `<@${ben}> look` });
  await posted(client, { channel: approvals, text: `<@${ben}> in the thread`, thread_ts: ts });
  expect(channelOf(ben, 'db-approvals')).toMatchObject({ unread: 2, notifications: 2 });
  expect(channelOf(cleo, 'db-approvals')).toMatchObject({ unread: 2, notifications: 0 });
  await posted(client, { channel: ben, text: 'for you' });
  expect(channelOf(ben, slack.workspace.botName)).toMatchObject({ unread: 1, notifications: 1 });
  slack.markRead(ben, 'db-approvals');
  expect(channelOf(ben, 'db-approvals')).toMatchObject({ unread: 0, notifications: 0 });
});

test('a user has the time zone of the workspace, unless another one is given', async () => {
  const slack = await startSlack();
  const anna = slack.workspace.members.find(({ id }) => id === ana);
  if (!anna) throw new Error('the workspace has no Ana');
  const timezone = 'America/New_York';
  await slack.admin.addPerson({ ...anna, id: 'U0NINA0001', name: 'nina', timezone });
  expect(slack.clientState(ana).me.timezone).toBe('Europe/Berlin');
  expect(slack.clientState('U0NINA0001').me.timezone).toBe(timezone);
});
