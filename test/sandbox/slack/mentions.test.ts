import { expect, test } from 'vitest';
import {
  actions,
  button,
  dataTable,
  mrkdwn,
  option,
  plain,
  raw,
  raws,
  richText,
  section,
} from './block-samples.ts';
import { ana, approvals, ben, cleo, emil, hugo, startSlack, sven } from './bolt-app.ts';
import { clientOf } from './client.ts';

async function started() {
  const slack = await startSlack();
  const client = clientOf(slack);
  const say = async (text: string, blocks: object[] = []) => {
    await client.apiCall('chat.postMessage', { channel: approvals, text, blocks });
    return slack.mentions().map(({ kind, notified: who }) => [kind, ...who]);
  };
  return { slack, chat: client.chat, say };
}

const leads = [ben, cleo, 'U0GUS00001'];

test.for<[string, string, object[], string[][]]>([
  ['a person', `Hello <@${ana}>`, [], [['user', ana]]],
  ['a person with a name', `Hello <@${ana}|ana>`, [], [['user', ana]]],
  ['a group, without those who left', '<!subteam^S0DBLEADS01>', [], [['group', ...leads]]],
  ['a group with a name', '<!subteam^S0DBLEADS01|@db-leads>', [], [['group', ...leads]]],
  ['a person in a section', 'x', [section(`<@${ana}>`)], [['user', ana]]],
  ['a person in a context', 'x', [context(`<@${ana}>`)], [['user', ana]]],
  ['a person in rich text', 'x', [richText({ type: 'user', user_id: ana })], [['user', ana]]],
  ['a group in rich text', 'x', [richText(group('S0DBLEADS01'))], [['group', ...leads]]],
])('a mention of %s notifies them', async ([, text, blocks, reached]) => {
  const { say } = await started();
  expect(await say(text, blocks)).toEqual(reached);
});

test.for(['channel', 'here', 'everyone'])(
  '<!%s> notifies everyone in the channel',
  async (range) => {
    const { slack, say } = await started();
    const [[kind, ...who] = []] = await say(`<!${range}> look`);
    expect(kind).toBe(range);
    expect(who).toEqual(expect.arrayContaining([ana, ben, emil]));
    expect(who).not.toContain(sven);
    expect(slack.mentions()).toMatchObject([{ channel: approvals, via: 'post' }]);
  },
);

test('a broadcast in rich text notifies everyone', async () => {
  const { say } = await started();
  const [[kind] = []] = await say('x', [richText({ type: 'broadcast', range: 'here' })]);
  expect(kind).toBe('here');
});

test.for<[string, string, object[]]>([
  ['an escaped name', '&lt;!channel&gt; &lt;@U0ANA00001&gt;', []],
  ['a plain text', 'x', [{ type: 'header', text: plain('<!channel>') }]],
  ['a raw cell', 'x', [dataTable([raws(1), [raw('<!here>')]])]],
  ['a leaf of rich text', 'x', [richText({ type: 'text', text: `<@${ana}>` })]],
  ['an option', 'x', [actions({ type: 'static_select', options: [option('<!here>')] })]],
  ['a button', 'x', [actions(button({ text: plain('<!everyone>'), value: '<!here>' }))]],
  ['a date', '<!date^1763600000^{date}|yesterday>', [dataTable([raws(1), raws(1)])]],
])('%s is not a mention', async ([, text, blocks]) => {
  const { slack, say } = await started();
  expect(await say(text, blocks)).toEqual([]);
  expect(slack.mentions()).toEqual([]);
});

test('a mention notifies no one outside the channel, no deactivated user, and no one in an ephemeral message', async () => {
  const { slack, chat, say } = await started();
  slack.admin.invite('db-approvals', hugo);
  expect(await say(`<@${hugo}> <@${sven}> <@U0NOBODY001>`)).toEqual([['user'], ['user'], ['user']]);
  const before = slack.mentions().length;
  await chat.postEphemeral({ channel: approvals, user: ben, text: `<@${ana}> <!here>` });
  expect(slack.mentions()).toHaveLength(before);
});

test('a mention in an update is recorded as an update', async () => {
  const { slack, chat } = await started();
  const { ts = '' } = await chat.postMessage({ channel: approvals, text: 'x' });
  await chat.update({ channel: approvals, ts, text: `<@${ana}>` });
  expect(slack.mentions()).toMatchObject([
    { ts, via: 'update', kind: 'user', target: ana, notified: [ana] },
  ]);
});

function context(text: string) {
  return { type: 'context', elements: [mrkdwn(text)] };
}

function group(usergroup_id: string) {
  return { type: 'usergroup', usergroup_id };
}
