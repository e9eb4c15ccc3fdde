import { globSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { readManifest } from '../../sandbox/slack/manifest.ts';
import { commands, nouns } from '../../src/commands/index.ts';
import { nounOf, verbOf } from '../../src/intent/define.ts';
import { manifestOf } from '../../src/slack/manifest.ts';

const words = { commands, nouns, prefix: '', url: null };
const manifest = manifestOf(words);
const source = globSync('src/slack/**/*.ts')
  .map((file) => readFileSync(file, 'utf8'))
  .join('\n');

/** Which scope Slack asks for, for each method that we call; null where it asks for none. */
const SCOPE_OF: Readonly<Record<string, string | readonly string[] | null>> = {
  'conversations.info': ['channels:read', 'groups:read'],
  'conversations.list': ['channels:read', 'groups:read'],
  'conversations.history': ['channels:history', 'groups:history'],
  'conversations.replies': ['channels:history', 'groups:history'],
  'conversations.members': ['channels:read', 'groups:read'],
  'auth.test': null,
  'chat.postEphemeral': 'chat:write',
  'chat.postMessage': 'chat:write',
  'chat.update': 'chat:write',
  'files.uploadV2': 'files:write',
  'usergroups.list': 'usergroups:read',
  'usergroups.users.list': 'usergroups:read',
  'users.info': 'users:read',
  'users.list': 'users:read',
  'views.open': null,
  'views.publish': null,
  'views.update': null,
};
const METHOD =
  /(?<![\w.])(?:\w+\.)*?((?:auth|chat|conversations|files|usergroups|users|views)\.(?:users\.)?(?:test|list|info|open|publish|update|push|postMessage|postEphemeral|members|history|lookupByEmail|uploadV2|delete))\(/g;
const PAGED = /'(conversations\.\w+|users\.list)'/g;

test('manifest.json is what the registry of commands says', () => {
  expect(JSON.parse(readFileSync('manifest.json', 'utf8'))).toEqual(manifest);
});

test('all its texts are as long as Slack allows', () => {
  const { display_information: display, features } = manifest;
  expect(display.name.length).toBeLessThanOrEqual(35);
  expect(display.description.length).toBeLessThanOrEqual(140);
  expect(display.long_description.length).toBeGreaterThanOrEqual(175);
  expect(display.long_description.length).toBeLessThanOrEqual(4_000);
  expect(display.background_color).toMatch(/^#[0-9a-f]{6}$/);
  expect(features.bot_user.display_name.length).toBeLessThanOrEqual(80);
  expect(features.slash_commands.length).toBeLessThanOrEqual(50);
  expect(features.shortcuts.length).toBeLessThanOrEqual(10);
  for (const { name, callback_id, description } of features.shortcuts) {
    expect(name.length, name).toBeLessThanOrEqual(24);
    expect(callback_id.length).toBeLessThanOrEqual(255);
    expect(description.length, description).toBeLessThanOrEqual(150);
  }
  for (const { command, description, usage_hint } of features.slash_commands) {
    expect(command).toMatch(/^\/[a-z0-9_-]{1,31}$/);
    expect(description.length, command).toBeGreaterThan(0);
    expect(description.length, command).toBeLessThanOrEqual(100);
    expect(usage_hint.length, command).toBeLessThanOrEqual(100);
  }
});

test('every noun of the registry can be typed, and its verbs are shown', () => {
  const { slash_commands } = manifest.features;
  const names = slash_commands.map(({ command }) => command);
  expect(names.toSorted()).toEqual(
    [...new Set([...commands.map(nounOf), 'signalbox'])].map((noun) => `/${noun}`).toSorted(),
  );
  for (const command of commands) {
    const shown = slash_commands.find((slash) => slash.command === `/${nounOf(command)}`);
    expect(shown?.usage_hint.split(' | ')).toContain(verbOf(command));
  }
});

test('every scope is used, and every call has its scope', () => {
  const calls = [...source.matchAll(METHOD), ...source.matchAll(PAGED)];
  const methods = calls.map(([, method = '']) => method);
  expect(methods.filter((method) => !(method in SCOPE_OF))).toEqual([]);
  const needed = new Set(methods.flatMap((method) => SCOPE_OF[method] ?? []));
  expect([...needed, 'commands'].toSorted()).toEqual(manifest.oauth_config.scopes.bot.toSorted());
});

test('every event that is asked for is listened to', () => {
  const heard = [...source.matchAll(/\.event\('(\w+)'/g)].map(([, event]) => event);
  expect(heard.toSorted()).toEqual(manifest.settings.event_subscriptions.bot_events.toSorted());
});

test('a prefix is put before every noun and nowhere else', () => {
  const { features } = manifestOf({ ...words, prefix: 'db-' });
  const names = features.slash_commands.map(({ command }) => command);
  expect(names).toEqual(Object.keys(nouns).map((noun) => `/db-${noun}`));
  expect(features.shortcuts).toEqual(manifest.features.shortcuts);
});

test('over a socket no address is given', () => {
  expect(JSON.stringify(manifest)).not.toContain('url');
  expect(manifest.settings.socket_mode_enabled).toBe(true);
});

test('over HTTP one address is given for commands, events, buttons and choices', () => {
  const url = 'https://signalbox.example.com/slack/events';
  const { features, settings } = manifestOf({ ...words, url });
  expect(features.slash_commands).toEqual(
    manifest.features.slash_commands.map((slash) => ({ ...slash, url })),
  );
  expect(settings).toMatchObject({
    socket_mode_enabled: false,
    event_subscriptions: { request_url: url },
    interactivity: { request_url: url, message_menu_options_url: url },
  });
});

test('the stand-in for Slack reads it too', () => {
  expect(readManifest(manifest)).toMatchObject({ homeTab: true, messagesTab: true });
});
