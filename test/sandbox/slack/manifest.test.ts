import { expect, test } from 'vitest';
import { type Json, record } from '../../../sandbox/json.ts';
import { ana, dora, general, hugo, manifest, startSlack, sven } from './bolt-app.ts';
import { clientOf, listener, outcome } from './client.ts';

const home = { type: 'home', blocks: [] };

async function withManifest(change: { features?: Json; scopes?: string[]; events?: string[] }) {
  const { features = {}, scopes, events } = change;
  return startSlack({
    manifest: {
      features: { ...record(manifest.features), ...features },
      oauth_config: scopes ? { scopes: { bot: scopes } } : manifest.oauth_config,
      settings: events ? { event_subscriptions: { bot_events: events } } : manifest.settings,
    },
  });
}

test('an app without a Home tab cannot publish it, and no user can open it', async () => {
  const slack = await withManifest({ features: { app_home: { home_tab_enabled: false } } });
  const publish = clientOf(slack).apiCall('views.publish', { user_id: ana, view: home });
  expect(await outcome(publish)).toBe('not_enabled');
  expect(await slack.openHome({ as: ana })).toMatchObject({ error: expect.any(String) });
});

test.for([hugo, sven])('a Home tab for %s is refused', async (user_id) => {
  const slack = await startSlack();
  const publish = clientOf(slack).apiCall('views.publish', { user_id, view: home });
  expect(await outcome(publish)).toBe('user_not_found');
});

test('an app without a Messages tab cannot post to a user', async () => {
  const slack = await withManifest({ features: { app_home: { messages_tab_enabled: false } } });
  const post = clientOf(slack).chat.postMessage({ channel: ana, text: 'x' });
  expect(await outcome(post)).toBe('messages_tab_disabled');
});

test('an app with chat:write.public can post without being a member', async () => {
  const slack = await withManifest({ scopes: ['chat:write', 'chat:write.public'] });
  const post = clientOf(slack).chat.postMessage({ channel: general, text: 'x' });
  expect(await outcome(post)).toBe('ok');
});

test('an event without a subscription is not delivered', async () => {
  const slack = await withManifest({ events: ['team_join'] });
  const received = await listener(slack);
  await slack.admin.deactivate(dora);
  expect(received).toEqual([]);
});
