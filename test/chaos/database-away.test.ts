import { expect, onTestFinished, test } from 'vitest';
import { verifyAll } from '../../src/log/upkeep.ts';
import { atOnce } from '../harness/at-once.ts';
import {
  type BotProcess,
  PROCESS_LIMITS,
  type ProcessSandbox,
  startProcessSandbox,
} from '../harness/bot-process.ts';
import { placeOf, textOf } from '../harness/messages.ts';
import { changesIn, withLog } from '../harness/read-log.ts';
import { ANALYTICS, requestChange, STAGING, waitUntilIdle } from '../harness/requests.ts';
import { startTcpProxy } from '../harness/tcp-proxy.ts';
import { startTestSandbox } from '../harness/test-sandbox.ts';
import { ANA, BEN, CLEO } from '../harness/users.ts';
import { emptyUrl } from '../storage/engines.ts';
import { type OwnServer, ownServer } from '../storage/postgres.ts';

const TAKES_LONG = { timeout: 240_000 };
/** A message that was being sent when the database failed is sent again after its lease. */
const LONG = { timeout: 90_000, interval: 200 };
const SHORTER_RETRIES = new URL('processes/shorter-retries.ts', import.meta.url).href;
const NOT_YET = 'outcome could not be stored; it is tried again';
const AWAY = 'Signalbox cannot use its database';

async function openServer(): Promise<OwnServer> {
  const server = await ownServer();
  onTestFinished(server.remove);
  await server.start();
  return server;
}

/** All requests for metrics within a second share one reading, which may be from before the crash. */
async function expectUnreadable(bot: BotProcess): Promise<void> {
  const metrics = async () => (await getText(bot, '/metrics')).says;
  await expect.poll(metrics, PROCESS_LIMITS).toContain('signalbox_database_readable 0');
  expect(await metrics()).toContain('signalbox_database_writable 0');
}

async function getText(bot: BotProcess, path: string) {
  const answer = await fetch(`${bot.url}${path}`);
  return { status: answer.status, says: (await answer.text()).trim() };
}

const REPEATED =
  /database connection lost|directory read failed|clock could not be read|job failed/;

/** Expects that the outage has one line for each failure, and that no line contains the client of the driver. */
function expectLinesOnce(bot: BotProcess): void {
  const lines = bot.logLines().filter((line) => REPEATED.test(line));
  const failures = lines.map((line) => {
    const { msg, problem, err } = JSON.parse(line);
    return `${msg}: ${problem ?? err.message}`;
  });
  expect(failures.join()).toContain('database connection lost');
  expect(failures).toEqual([...new Set(failures)]);
  expect(lines.join()).not.toContain('connectionParameters');
}

const ready = { status: 200, says: 'ready' };
const privateTextsOf =
  ({ slack }: ProcessSandbox, user: string) =>
  () =>
    slack
      .messages('ops')
      .concat(slack.messages('db-approvals'))
      .filter(({ ephemeralFor }) => ephemeralFor === user)
      .map(textOf)
      .join('\n');

/** Starts a bot with one change that waits for Ben and another one whose request is in progress. */
async function startWithOpenChanges(databaseUrl: string) {
  const answer = Promise.withResolvers<void>();
  const preload = SHORTER_RETRIES;
  const sandbox = await startProcessSandbox({ databaseUrl, preload, wait: () => answer.promise });
  const { slack, cloud } = sandbox;
  const bot = await sandbox.startAndDeliver();
  const sent = await requestChange(sandbox);
  cloud.injectFault({ operation: 'set state', fault: 'delay-2s', times: 1 });
  await slack.click(BEN, placeOf(sent), 'change.approve');
  await expect.poll(() => cloud.count('set state'), PROCESS_LIMITS).toBe(1);
  await expect.poll(() => sent.text, PROCESS_LIMITS).toContain('running');
  const waiting = await requestChange(sandbox, ANA, '/service stop analytics-prod "for the night"');
  const metrics = async () => (await getText(bot, '/metrics')).says;
  // The execution that waits for its answer is the only job left.
  await expect.poll(metrics, PROCESS_LIMITS).toContain('signalbox_queue_depth{queue="outbox"} 1');
  return { sandbox, bot, sent, waiting, answer: answer.resolve };
}

/** Expects that both changes ran exactly once, in the same process. */
async function expectAllDone(
  databaseUrl: string,
  { sandbox, bot, sent, waiting }: Awaited<ReturnType<typeof startWithOpenChanges>>,
) {
  const { slack, cloud } = sandbox;
  await expect.poll(() => sent.text, LONG).toContain('staging is stopping');
  for (const by of [BEN, CLEO]) {
    const { error } = await slack.click(by, placeOf(waiting), 'change.approve');
    expect(error).toBeNull();
  }
  await expect.poll(() => waiting.text, LONG).toContain('analytics-prod is stopping');
  for (const id of [STAGING, ANALYTICS]) expect(cloud.effectCount('set state', id)).toBe(1);
  const changes = await changesIn(databaseUrl);
  expect(changes.map(({ state }) => state)).toEqual(['succeeded', 'succeeded']);
  expect(changes.flatMap(({ approvals }) => approvals.map(({ by }) => by)).toSorted()).toEqual(
    [BEN, BEN, CLEO].toSorted(),
  );
  expect(await withLog(databaseUrl, verifyAll)).toMatchObject({ ok: true });
  expect(bot.logged().filter((words) => words.includes('a promise was dropped'))).toEqual([]);
  bot.signal('SIGTERM');
  expect(await bot.exited).toBe(0);
}

interface Outage {
  /** The database as the bot reaches it. */
  readonly url: string;
  readonly begin: () => void | Promise<void>;
  /** Waits for what only this outage shows. */
  readonly last: (bot: BotProcess) => Promise<void>;
  readonly end: (bot: BotProcess) => void | Promise<void>;
}

const crash = async ({ url, kill, start }: OwnServer): Promise<Outage> => ({
  url,
  begin: kill,
  last: async (bot) => {
    // A failover takes 30 s and more.
    const storeAttempts = () => bot.logged().filter((words) => words === NOT_YET).length;
    await expect.poll(storeAttempts, LONG).toBe(1);
    expectLinesOnce(bot);
  },
  end: async (bot) => {
    await start();
    await expect.poll(bot.logged, LONG).toContain('database connection restored');
  },
});

async function silence({ url, port }: OwnServer): Promise<Outage> {
  const wire = await startTcpProxy(port);
  const last = async () => undefined;
  return { url: wire.through(url), begin: wire.dropPackets, last, end: wire.forwardAgain };
}

async function losesNothing(outageOf: (server: OwnServer) => Promise<Outage>): Promise<void> {
  const server = await openServer();
  const outage = await outageOf(server);
  const work = await startWithOpenChanges(outage.url);
  const { sandbox, bot, waiting } = work;
  const { slack } = sandbox;

  await outage.begin();
  await expect
    .poll(() => getText(bot, '/readyz'), PROCESS_LIMITS)
    .toEqual({
      status: 503,
      says: 'The database does not answer. Check that the server of DATABASE_URL is running.',
    });
  expect((await getText(bot, '/healthz')).status).toBe(200);
  await expectUnreadable(bot);
  // The cloud answers while the outcome cannot be stored.
  work.answer();
  await slack.command(ANA, 'ops', '/service start staging');
  const pressed = await slack.click(BEN, placeOf(waiting), 'change.approve');
  expect(pressed.error).toBeTruthy();
  for (const user of [ANA, BEN]) {
    await expect.poll(privateTextsOf(sandbox, user), LONG).toContain(AWAY);
  }
  await outage.last(bot);

  await outage.end(bot);
  await expect.poll(() => getText(bot, '/readyz'), LONG).toEqual(ready);
  await expectAllDone(server.url, work);
}

async function postsDigestOnce(): Promise<void> {
  const url = await emptyUrl('postgres');
  const wire = await startTcpProxy(Number(new URL(url).port));
  const digest = { channel: '#db-costs', at: '13:00', timezone: 'UTC', days: 'daily' };
  const yaml = (file: object) => ({ ...file, digests: [digest] });
  const sandbox = await startTestSandbox({ databaseUrl: wire.through(url), yaml });
  const posted = () => sandbox.slack.messages('db-costs').filter(({ threadTs }) => !threadTs);
  const ready = async () => (await fetch(`${sandbox.url}/readyz`)).status;
  wire.dropPackets();
  sandbox.clock.now = new Date('2026-11-20T13:01:00Z');
  sandbox.wake();
  expect(await ready()).toBe(503);
  expect(posted()).toEqual([]);

  wire.forwardAgain();
  await expect.poll(ready, LONG).toBe(200);
  sandbox.clock.now = new Date('2026-11-20T13:02:00Z');
  sandbox.wake();
  await expect.poll(() => posted().length, LONG).toBe(1);
  sandbox.clock.now = new Date('2026-11-20T14:00:00Z');
  sandbox.wake();
  await waitUntilIdle(sandbox);
  expect(posted()).toHaveLength(1);
}

test('an outage of the database loses nothing and repeats nothing', TAKES_LONG, () =>
  atOnce({
    'a crash of the database server': () => losesNothing(crash),
    'a network that drops all database packets': () => losesNothing(silence),
    'a digest that is due meanwhile is posted once afterwards': postsDigestOnce,
  }),
);
