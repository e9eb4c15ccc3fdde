import { globSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { commands, nounOf, nouns, verbOf } from '../../src/commands/index.ts';
import { manifestOf } from '../../src/slack/manifest.ts';
import { SlackManifest } from './manifest-schema.ts';

const words = { commands, nouns, prefix: '', url: null };
const manifest = manifestOf(words);
const source = globSync('src/**/*.ts')
  .map((file) => readFileSync(file, 'utf8'))
  .join('\n');

/** The scopes that Slack asks for, and the methods that we call with them. */
const CALLS_OF = [
  [['channels:read', 'groups:read'], 'conversations', 'info', 'list', 'members'],
  [['channels:history', 'groups:history'], 'conversations', 'history', 'replies'],
  [['im:write'], 'conversations', 'open'],
  [['chat:write'], 'chat', 'postEphemeral', 'postMessage', 'update'],
  [['files:write'], 'files', 'uploadV2'],
  [['usergroups:read'], 'usergroups', 'list', 'users.list'],
  [['users:read'], 'users', 'info', 'list'],
  [[], 'auth', 'test'],
  [[], 'chat', 'getPermalink'],
  [[], 'views', 'open', 'publish', 'update'],
] as const;
const SCOPES_OF = new Map<string, readonly string[]>(
  CALLS_OF.flatMap(([scopes, family, ...calls]) =>
    calls.map((call) => [`${family}.${call}`, scopes] as const),
  ),
);
const METHOD =
  /(?<![\w.])(?:\w+\.)*?((?:auth|chat|conversations|files|usergroups|users|views)\.(?:users\.)?(?:test|list|info|open|publish|update|push|postMessage|postEphemeral|getPermalink|members|history|lookupByEmail|uploadV2|delete))\(/g;
const PAGED = /'(conversations\.\w+|users\.list)'/g;

test('manifest.json is what the registry of commands says', () => {
  expect(JSON.parse(readFileSync('manifest.json', 'utf8'))).toEqual(manifest);
});

test.for([
  ['Socket Mode', null],
  ['HTTP', 'https://signalbox.example.com/slack/events'],
] as const)("the manifest for %s satisfies Slack's schema", ([, url]) => {
  for (const prefix of ['', 'db-']) {
    const { error } = SlackManifest.safeParse(manifestOf({ ...words, prefix, url }));
    expect(error?.issues ?? []).toEqual([]);
  }
});

test('hints and descriptions of commands are short enough to be shown whole', () => {
  for (const { command, description, usage_hint } of manifest.features.slash_commands) {
    expect(command).toMatch(/^\/[a-z0-9_-]{1,31}$/);
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
    expect(shown?.usage_hint.split(' | ')).toContain(verbOf(command).split(' ')[0]);
  }
});

test('every scope is used, and every call has its scope', () => {
  const calls = [...source.matchAll(METHOD), ...source.matchAll(PAGED)];
  const methods = calls.map(([, method = '']) => method);
  expect(methods.filter((method) => !SCOPES_OF.has(method))).toEqual([]);
  const needed = new Set(methods.flatMap((method) => SCOPES_OF.get(method) ?? []));
  const forEvents = ['im:history', 'app_mentions:read'];
  expect([...needed, ...forEvents, 'commands'].toSorted()).toEqual(
    manifest.oauth_config.scopes.bot.toSorted(),
  );
});

test('every event that is asked for is listened to', () => {
  const listeners = readFileSync('src/slack/listeners.ts', 'utf8');
  const handlers = /^( *)switch \(event\.type\) \{\n(?<cases>[\s\S]*?)\n\1\}/m.exec(
    listeners,
  )?.groups;
  const heard = [...(handlers?.cases ?? '').matchAll(/case '(\w+)':/g)].map(([, event]) => event);
  const { bot_events } = manifest.settings.event_subscriptions;
  // The subscription to messages names the kind of channel.
  const types = bot_events.map((event) => event.replace(/^message\.im$/, 'message'));
  expect(heard.toSorted()).toEqual(types.toSorted());
});

test('a prefix is put before every noun and nowhere else', () => {
  const { features } = manifestOf({ ...words, prefix: 'db-' });
  const names = features.slash_commands.map(({ command }) => command);
  expect(names).toEqual(Object.keys(nouns).map((noun) => `/db-${noun}`));
  expect(features.shortcuts).toEqual(manifest.features.shortcuts);
});

test('with more changes than Slack allows shortcuts, the first ones and the list of commands remain', () => {
  const { features } = manifestOf({ ...words, commands: [...commands, ...commands] });
  expect(features.shortcuts.length).toBe(10);
  expect(features.shortcuts.at(-1)?.name).toBe('Run a command');
});

test('over a socket no address is given, over HTTP one for commands, events, buttons and choices', () => {
  expect(JSON.stringify(manifest)).not.toContain('url');
  expect(manifest.settings.socket_mode_enabled).toBe(true);
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

test('with an address of agents, Slackbot may connect to it', () => {
  const mcp = 'https://signalbox.example.com/mcp';
  const own = manifestOf({ ...words, mcp });
  expect(SlackManifest.safeParse(own).error?.issues ?? []).toEqual([]);
  const signalbox = { url: mcp, auth_type: 'slack_identity_auth' };
  expect(own).toMatchObject({ mcp_servers: { signalbox } });
  expect(own.oauth_config.scopes.bot.at(-1)).toBe('mcp:connect');
  expect(JSON.stringify(manifest)).not.toContain('mcp');
});

test('an app for an organization of Enterprise Grid says so, and no other one', () => {
  const own = manifestOf({ ...words, org: true });
  expect(own.settings).toEqual({ ...manifest.settings, org_deploy_enabled: true });
  expect(manifest.settings.org_deploy_enabled).toBe(false);
});

// The size stands at the beginning of a PNG file, as two numbers of 32 bits.
test('the icon is a square PNG of at least 512 pixels, as Slack requires', () => {
  const icon = readFileSync('docs/pictures/icon.png');
  expect(icon.subarray(1, 4).toString()).toBe('PNG');
  expect(icon.readUInt32BE(16)).toBeGreaterThanOrEqual(512);
  expect(icon.readUInt32BE(20)).toBe(icon.readUInt32BE(16));
  expect(icon.length).toBeLessThan(60_000);
});
