import { expect, test } from 'vitest';
import { type Json, record } from '../../../sandbox/json.ts';
import { ana, dora, general, hugo, manifest, standIn, sven } from './bolt-app.ts';
import { clientOf, listener, outcome } from './client.ts';

const home = { type: 'home', blocks: [] };

async function withManifest(change: { features?: Json; scopes?: string[]; events?: string[] }) {
  const { features = {}, scopes, events } = change;
  return standIn({
    manifest: {
      features: { ...record(manifest.features), ...features },
      oauth_config: scopes ? { scopes: { bot: scopes } } : manifest.oauth_config,
      settings: events ? { event_subscriptions: { bot_events: events } } : manifest.settings,
    },
  });
}

test('without a home tab nothing can be published and nobody can open it', async () => {
  const slack = await withManifest({ features: { app_home: { home_tab_enabled: false } } });
  const publish = clientOf(slack).apiCall('views.publish', { user_id: ana, view: home });
  expect(await outcome(publish)).toBe('not_enabled');
  expect(await slack.openHome({ as: ana })).toMatchObject({ error: expect.any(String) });
});

test.for([hugo, sven])('nobody publishes a home for %s, who has none', async (user_id) => {
  const slack = await standIn();
  const publish = clientOf(slack).apiCall('views.publish', { user_id, view: home });
  expect(await outcome(publish)).toBe('user_not_found');
});

test('without a messages tab the app cannot write to a person', async () => {
  const slack = await withManifest({ features: { app_home: { messages_tab_enabled: false } } });
  const post = clientOf(slack).chat.postMessage({ channel: ana, text: 'x' });
  expect(await outcome(post)).toBe('messages_tab_disabled');
});

test('with chat:write.public the app writes where it is not a member', async () => {
  const slack = await withManifest({ scopes: ['chat:write', 'chat:write.public'] });
  const post = clientOf(slack).chat.postMessage({ channel: general, text: 'x' });
  expect(await outcome(post)).toBe('ok');
});

test('an event that the app did not subscribe to is not delivered', async () => {
  const slack = await withManifest({ events: ['team_join'] });
  const heard = await listener(slack);
  await slack.admin.deactivate(dora);
  expect(heard).toEqual([]);
});
