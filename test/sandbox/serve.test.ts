import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { text as textOf } from 'node:stream/consumers';
import { parseEnv } from 'node:util';
import { expect, onTestFinished, test } from 'vitest';
import { fencesOn, readPage } from '../documents/pages.ts';

/** The example of the page, in a folder where its packages are found. */
function example() {
  mkdirSync('node_modules/.cache', { recursive: true });
  const folder = mkdtempSync('node_modules/.cache/slack-app-');
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const file = (name: string, start: string) => {
    const fence = fencesOn(readPage('sandbox/README.md')).find(({ text }) =>
      text.startsWith(start),
    );
    writeFileSync(join(folder, name), fence?.text ?? '');
    return join(folder, name);
  };
  return { manifest: file('manifest.json', '{'), app: file('app.mjs', 'import bolt') };
}

function start(words: readonly string[], env: NodeJS.ProcessEnv = {}) {
  const child = spawn(process.execPath, words, {
    env: { PATH: process.env.PATH, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  onTestFinished(() => void child.kill('SIGKILL'));
  return child;
}

/** The variables that the script writes, all at once, before it serves. */
const variablesOf = async (child: ReturnType<typeof start>) =>
  parseEnv(String(await once(child.stdout, 'data')));

async function post(url: string, body: object) {
  const headers = { 'content-type': 'application/json' };
  return fetch(url, { method: 'POST', headers, body: JSON.stringify(body) });
}

test('the app of the page answers its command', async () => {
  const { manifest, app } = example();
  const content = JSON.parse(readFileSync(manifest, 'utf8'));
  const settings = { event_subscriptions: { bot_events: ['message.im', 'reaction_added'] } };
  writeFileSync(manifest, JSON.stringify({ ...content, settings }));
  const slack = start(['sandbox/serve.ts', manifest, '--port', '0', '--no-page']);
  const warned = textOf(slack.stderr);
  const env = await variablesOf(slack);
  const names = ['SLACK_API_URL', 'SLACK_APP_TOKEN', 'SLACK_BOT_TOKEN'];
  expect(Object.keys(env).toSorted()).toEqual(names);
  const bot = start([app], env);
  const { origin } = new URL(env.SLACK_API_URL ?? '');
  const typed = { as: 'U0ANA00001', channel: 'C0OPS000001', text: '/hello' };
  // Until the app is connected, Slack says that the command failed.
  await expect
    .poll(async () => (await post(`${origin}/sandbox/command`, typed)).text(), { interval: 200 })
    .toContain('"status":200');
  const state = async () =>
    (await fetch(`${origin}/sandbox/state?as=U0ANA00001`).then((answer) => answer.text())) ?? '';
  await expect.poll(state, { interval: 100 }).toContain('Hello, <@U0ANA00001>');
  bot.kill('SIGKILL');
  slack.kill('SIGTERM');
  expect(await once(slack, 'exit')).toEqual([0, null]);
  expect(await warned).toBe('Not simulated, and never delivered: reaction_added\n');
});

const OTHERS = {
  'empty.json': '{}',
  'typo.json':
    '{"features":{"slash_commands":[{"command":"x"}]},"oauth_config":{"scopes":{"bot":[]}}}',
};

test.for<[string, readonly string[], string]>([
  ['no file', [], 'Name the file of your manifest.'],
  ['an unknown option', ['manifest.json', '--prot', '1'], "Unknown option '--prot'."],
  ['a file that is missing', ['x.json'], 'x.json cannot be read as the manifest of an app'],
  ['another file', ['empty.json'], 'features is missing, oauth_config is missing. Copy it'],
  ['a command without /', ['typo.json'], 'features.slash_commands.0.command must begin with /'],
  ['a port that is no number', ['manifest.json', '--port', 'x'], '--port must be a number'],
])('%s is refused with a sentence and the options', ([, words, reason]) => {
  const cwd = dirname(example().manifest);
  for (const [name, content] of Object.entries(OTHERS)) writeFileSync(join(cwd, name), content);
  const given = [resolve('sandbox/serve.ts'), ...words];
  const { status, stderr } = spawnSync(process.execPath, given, { cwd, encoding: 'utf8' });
  expect(status).toBe(2);
  expect(stderr.split('\n\n')[0]).toContain(reason);
  expect(stderr).toContain('--events <url>');
});
