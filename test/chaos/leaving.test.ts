import { once } from 'node:events';
import { createServer } from 'node:net';
import { fileURLToPath } from 'node:url';
import { expect, onTestFinished, test } from 'vitest';
import { sandboxYaml } from '../../sandbox/configuration.ts';
import { openStore, sql } from '../../src/storage/index.ts';
import { atOnce } from '../harness/at-once.ts';
import {
  PROCESS_LIMITS,
  type ProcessSandboxOptions,
  startProcessSandbox,
} from '../harness/bot-process.ts';
import { placeOf } from '../harness/messages.ts';
import { BOT } from '../harness/programs.ts';
import { changesIn } from '../harness/read-log.ts';
import { requestChange, STAGING } from '../harness/requests.ts';
import { BEN } from '../harness/users.ts';
import { emptyUrl } from '../storage/engines.ts';

const DROPPED = fileURLToPath(new URL('./processes/dropped.ts', import.meta.url));

async function tookMs(work: () => Promise<unknown>): Promise<number> {
  const began = performance.now();
  await work();
  return performance.now() - began;
}

async function stopsAtOpenRequest(): Promise<void> {
  const databaseUrl = await emptyUrl('sqlite');
  // The last sixth is for storing the outcome.
  const sandbox = await startProcessSandbox({ databaseUrl, env: { STOP_WITHIN_S: '10' } });
  const { slack, cloud } = sandbox;
  const bot = await sandbox.startAndDeliver();
  const card = await requestChange(sandbox);
  cloud.injectFault({ operation: 'set state', fault: 'hang', times: 1 });
  await slack.click(BEN, placeOf(card), 'change.approve');
  const hanging = () => cloud.requests().filter(({ fault }) => fault === 'hang').length;
  await expect.poll(hanging, PROCESS_LIMITS).toBe(1);

  const stopMs = await tookMs(async () => {
    bot.signal('SIGTERM');
    expect(await bot.exited).toBe(0);
  });
  expect(bot.logged().at(-1)).toBe('stopped');

  const [change] = await changesIn(databaseUrl);
  expect(change).toMatchObject({ state: 'unknown', outcome: { how: 'unknown', status: null } });

  // The next process shows it on the card and sends nothing.
  const next = await sandbox.start();
  await expect.poll(() => card.text, PROCESS_LIMITS).toContain('outcome unknown');
  expect(hanging()).toBe(1);
  expect(cloud.effectCount('set state', STAGING)).toBe(0);

  // A process exits more slowly on a loaded machine, also without open work.
  const exitMs = await tookMs(async () => {
    next.signal('SIGTERM');
    expect(await next.exited).toBe(0);
  });
  expect(stopMs).toBeLessThan(10_000 + 5 * exitMs);
}

async function stopsWithoutSlack(): Promise<void> {
  const databaseUrl = await emptyUrl('postgres');
  const sandbox = await startProcessSandbox({ databaseUrl, env: { STOP_WITHIN_S: '10' } });
  const { slack } = sandbox;
  const bot = await sandbox.startAndDeliver();
  const card = await requestChange(sandbox);
  // Slack accepts the note before the request without an answer; each attempt waits ten seconds.
  const before = slack.calls('chat.postMessage').length;
  slack.failNext({ method: 'chat.postMessage', times: 99, how: 'no-reply' });
  await slack.click(BEN, placeOf(card), 'change.approve');
  const tried = () => slack.calls('chat.postMessage').length;
  await expect.poll(tried, PROCESS_LIMITS).toBeGreaterThan(before);
  bot.signal('SIGTERM');
  expect(await bot.exited).toBe(0);
  expect(bot.logged().at(-1)).toContain('another process continues after the lease');
}

test('servers that never answer do not delay a stop', () =>
  atOnce({
    'the cloud: the outcome is unknown and the exit code 0': stopsAtOpenRequest,
    'Slack: a stop without any finished request still exits with 0 in time': stopsWithoutSlack,
  }));

test.for(['an unhandled promise rejection', 'an uncaught error'])(
  '%s ends the process with exit code 1 after a log line without secrets',
  async (FAULT) => {
    const databaseUrl = await emptyUrl('postgres');
    const sandbox = await startProcessSandbox({
      ...{ databaseUrl, env: { FAULT }, preload: DROPPED, program: BOT },
    });
    const began = performance.now();
    const bot = await sandbox.start();
    const startMs = performance.now() - began;
    const exitMs = await tookMs(async () => {
      bot.signal('SIGUSR2');
      expect(await bot.exited).toBe(1);
    });
    expect(exitMs).toBeLessThan(5 * startMs);
    const [line = ''] = bot.logLines().slice(-1);
    expect(JSON.parse(line)).toMatchObject({
      level: 60,
      msg: 'uncaught error: the process exits',
      err: { message: 'it failed with [secret]', stack: expect.stringContaining('dropped.ts') },
    });
    expect(bot.logLines().join()).not.toContain(sandbox.slack.botToken);
  },
);

type Refused = () => Promise<Partial<ProcessSandboxOptions>>;
const env =
  (changed: Readonly<Record<string, string>>): Refused =>
  async () => ({ env: changed });

test.for<[string, string, Refused]>([
  ['an invalid variable', 'PORT', env({ PORT: 'often' })],
  ['a token that Slack refuses', 'SLACK_BOT_TOKEN', env({ SLACK_BOT_TOKEN: 'xoxb-wrong' })],
  ['an unknown group', '@nobody', withUnknownGroup],
  ['the schema of a newer release', 'DATABASE_URL', withNewerSchema],
  ['a server that confirms commits before they are on disk', 'DATABASE_URL', withLossyCommits],
])('a start with %s exits with 78', async ([, words, options]) => {
  const databaseUrl = await emptyUrl('sqlite');
  const sandbox = await startProcessSandbox({ databaseUrl, ...(await options()) });
  const refused = await sandbox.failedStart();
  expect(refused.errors).toContain(words);
  expect(refused.code).toBe(78);
});

async function withUnknownGroup() {
  return { yaml: sandboxYaml().replace('@db-operators', '@nobody') };
}

async function withNewerSchema() {
  const databaseUrl = await emptyUrl('postgres');
  const store = await openStore(databaseUrl);
  await sql`insert into migration (name) values ('002-of-a-newer-release')`.execute(store.root);
  await store.close();
  return { databaseUrl };
}

async function withLossyCommits() {
  const lossy = new URL(await emptyUrl('postgres'));
  const options = lossy.searchParams.get('options');
  lossy.searchParams.set('options', `${options} -c synchronous_commit=off`);
  return { databaseUrl: lossy.href };
}

test('a start on a port of another process names it and exits with 1', async () => {
  const other = createServer().listen(0);
  onTestFinished(() => void other.close());
  await once(other, 'listening');
  const address = other.address();
  const port = typeof address === 'object' && address ? address.port : 0;
  const env = { PORT: `${port}` };
  const sandbox = await startProcessSandbox({ databaseUrl: await emptyUrl('sqlite'), env });
  const refused = await sandbox.failedStart();
  expect(refused.errors).toContain(`${port} is in use by another process`);
  expect(refused.code).toBe(1);
});

test('a start that waits for its database ignores SIGHUP and exits with 0 on SIGTERM', async () => {
  const sandbox = await startProcessSandbox({ databaseUrl: 'postgres://127.0.0.1:1/x' });
  const bot = sandbox.startWaiting();
  await expect.poll(() => bot.logged().join(), PROCESS_LIMITS).toContain('the start waits');
  bot.signal('SIGHUP');
  bot.signal('SIGTERM');
  expect(await bot.exited).toBe(0);
  expect(bot.logged().at(-1)).toBe('stopped');
});
