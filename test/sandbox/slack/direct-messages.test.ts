import { expect, test } from 'vitest';
import { record } from '../../../sandbox/json.ts';
import { actions, button } from './block-samples.ts';
import { ana, approvals, ben, manifest, startSlack } from './bolt-app.ts';
import { clientOf, listener, posted } from './client.ts';

const DM = 'D0ANA00001';

async function started(scopes = ['chat:write', 'im:history', 'app_mentions:read']) {
  const bot_events = ['message.im', 'app_mention'];
  const settings = { event_subscriptions: { bot_events } };
  const oauth_config = { scopes: { bot: scopes } };
  const slack = await startSlack({ manifest: { ...manifest, oauth_config, settings } });
  const received = await listener(slack);
  const events = () =>
    received.flatMap(({ event }) => (event === undefined ? [] : [record(event)]));
  return { slack, received, events, client: clientOf(slack) };
}

test('the app receives the messages of a person, and its own ones with its bot_id', async () => {
  const { slack, events, client } = await started();
  const { ts } = await client.chat.postMessage({ channel: ana, text: 'A card' });
  await slack.sendMessage({ as: ana, channel: DM, text: 'help' });
  await expect.poll(events).toHaveLength(2);
  const common = { type: 'message', channel: DM, channel_type: 'im' };
  const own = { ...common, ts, event_ts: ts, user: 'U0SIGNALBOX', bot_id: 'B0SIGNALBOX' };
  expect(events()).toContainEqual(expect.objectContaining({ ...own, text: 'A card' }));
  const written = events().find(({ user }) => user === ana);
  expect(written).toMatchObject({ ...common, text: 'help' });
  expect(written).not.toHaveProperty('bot_id');
  expect(events().filter(({ subtype }) => subtype !== undefined)).toEqual([]);
});

test('the app receives its updates and deletions with a subtype', async () => {
  const { slack, events, client } = await started();
  const ts = await posted(client, { channel: ana, text: 'Waiting' });
  await client.chat.update({ channel: DM, ts, text: 'Done' });
  slack.admin.deleteMessage(DM, ts);
  await expect.poll(events).toHaveLength(3);
  expect(events().find(({ subtype }) => subtype === 'message_changed')).toMatchObject({
    hidden: true,
    message: { ts, text: 'Done', bot_id: 'B0SIGNALBOX' },
    previous_message: { ts, text: 'Waiting' },
  });
  expect(events().find(({ subtype }) => subtype === 'message_deleted')).toMatchObject({
    deleted_ts: ts,
    previous_message: { text: 'Done' },
  });
});

test('Slack sends no event of ephemeral messages and of messages of the app in channels', async () => {
  const { slack, events, client, received } = await started();
  const blocks = [actions(button({ action_id: 'yes' }))];
  const ts = await posted(client, { channel: ana, text: 'Sure?', blocks });
  await slack.click(ana, { in: 'message', channel: DM, ts }, 'yes');
  const url = String(received.find(({ type }) => type === 'block_actions')?.response_url);
  await fetch(url, { method: 'POST', body: JSON.stringify({ text: 'Only you' }) });
  await client.chat.postMessage({ channel: approvals, text: '<@U0SIGNALBOX> help' });
  await slack.sendMessage({ as: ben, channel: approvals, text: 'no mention' });
  await slack.sendMessage({ as: ben, channel: approvals, text: '@signalbox help' });
  await expect.poll(() => events().map(({ type }) => type)).toEqual(['message', 'app_mention']);
});

test('without the scope im:history the app receives no direct messages', async () => {
  const { slack, events, client } = await started(['chat:write', 'app_mentions:read']);
  await client.chat.postMessage({ channel: ana, text: 'A card' });
  await slack.sendMessage({ as: ana, channel: DM, text: 'help' });
  await slack.sendMessage({ as: ben, channel: approvals, text: '@signalbox help' });
  await expect.poll(() => events().map(({ type }) => type)).toEqual(['app_mention']);
});
