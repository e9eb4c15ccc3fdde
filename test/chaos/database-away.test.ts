import { expect, onTestFinished, test } from 'vitest';
import type { StoredMessage } from '../../sandbox/slack/records.ts';
import { verifyChain } from '../../src/storage/audit/append.ts';
import { listChanges } from '../../src/storage/tables/changes/change-lists.ts';
import { settled } from '../scenarios/actions.ts';
import { ANALYTICS, STAGING } from '../scenarios/request.ts';
import { ANA, BEN, CLEO, openStage, textOf } from '../scenarios/stage.ts';
import { freshUrl, openForTest } from '../storage/engines.ts';
import { type OwnServer, ownServer } from '../storage/postgres.ts';
import { asked, PATIENCE, placeOf, type ShippedStage } from './processes/hands.ts';
import { openShippedStage, type Shipped } from './processes/shipped.ts';
import { openWire } from './processes/wire.ts';

const AUDIT_KEY = Buffer.alloc(32, 7);
const TAKES_LONG = { timeout: 240_000 };
/** A message that was being sent when the database failed is sent again after its lease. */
const LONG = { timeout: 90_000, interval: 200 };
const NOT_YET = 'outcome could not be stored; retrying';
const AWAY = 'Signalbox cannot reach its database';

async function openServer(): Promise<OwnServer> {
  const server = await ownServer();
  onTestFinished(server.remove);
  await server.start();
  return server;
}

async function getText(bot: Shipped, path: string) {
  const answer = await fetch(`${bot.url}${path}`);
  return { status: answer.status, says: (await answer.text()).trim() };
}

const ready = { status: 200, says: 'ready' };
const privateTextsOf =
  ({ slack }: ShippedStage, user: string) =>
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
  const stage = await openShippedStage({ databaseUrl, wait: () => answer.promise });
  const { slack, cloud } = stage;
  const bot = await stage.start();
  slack.deliverTo(`${bot.url}/slack/events`);
  const sent = await asked(stage, 'stop');
  cloud.injectFault({ operation: 'set state', fault: 'delay-2s', times: 1 });
  await slack.click(BEN, placeOf(sent), 'change.approve');
  await expect.poll(() => cloud.count('set state'), PATIENCE).toBe(1);
  await expect.poll(() => sent.text, PATIENCE).toContain('running');
  const waiting = await requestProdStop(stage);
  const metrics = async () => (await getText(bot, '/metrics')).says;
  await expect.poll(metrics, PATIENCE).toContain('signalbox_queue_depth{queue="outbox"} 0');
  return { stage, bot, sent, waiting, answer: answer.resolve };
}

async function requestProdStop({ slack }: ShippedStage): Promise<StoredMessage> {
  await slack.command(ANA, 'ops', '/service stop analytics-prod "for the night"');
  const preview = () =>
    slack
      .messages('ops')
      .find((each) => textOf(each).includes('analytics-prod?') && each.ephemeralFor);
  await expect.poll(preview, PATIENCE).toBeTruthy();
  await slack.click(ANA, placeOf(preview()), 'change.confirm');
  const card = () =>
    slack.messages('db-approvals').find(({ text }) => text.includes('analytics-prod: waiting'));
  await expect.poll(card, PATIENCE).toBeTruthy();
  const found = card();
  if (!found) throw new Error('There is no card');
  return found;
}

/** Expects that both changes ran exactly once, in the same process. */
async function expectAllDone(
  databaseUrl: string,
  { stage, bot, sent, waiting }: Awaited<ReturnType<typeof startWithOpenChanges>>,
) {
  const { slack, cloud } = stage;
  await expect.poll(() => sent.text, LONG).toContain('Stop staging: accepted');
  for (const by of [BEN, CLEO]) {
    const { error } = await slack.click(by, placeOf(waiting), 'change.approve');
    expect(error).toBeNull();
  }
  await expect.poll(() => waiting.text, LONG).toContain('Stop analytics-prod: accepted');
  for (const id of [STAGING, ANALYTICS]) expect(cloud.effectCount('set state', id)).toBe(1);
  const { db } = await openForTest(databaseUrl);
  const changes = await listChanges(db, { limit: 10 });
  expect(changes.map(({ state }) => state)).toEqual(['succeeded', 'succeeded']);
  expect(changes.flatMap(({ approvals }) => approvals.map(({ by }) => by)).toSorted()).toEqual(
    [BEN, BEN, CLEO].toSorted(),
  );
  expect(await verifyChain(db, AUDIT_KEY)).toMatchObject({ ok: true });
  expect(bot.said().filter((words) => words.includes('a promise was dropped'))).toEqual([]);
  bot.signal('SIGTERM');
  expect(await bot.left).toBe(0);
}

test('a crash of the database server loses nothing and repeats nothing', TAKES_LONG, async () => {
  const server = await openServer();
  const work = await startWithOpenChanges(server.url);
  const { stage, bot, waiting } = work;
  const { slack } = stage;

  await server.kill();
  await expect
    .poll(() => getText(bot, '/readyz'), PATIENCE)
    .toEqual({
      status: 503,
      says: 'The database does not answer. Check that the server of DATABASE_URL is running.',
    });
  expect((await getText(bot, '/healthz')).status).toBe(200);
  expect((await getText(bot, '/metrics')).says).toContain('signalbox_database_readable 0');
  // The cloud answers while the outcome cannot be stored.
  work.answer();
  await slack.command(ANA, 'ops', '/service start staging');
  await expect.poll(privateTextsOf(stage, ANA), PATIENCE).toContain(AWAY);
  const pressed = await slack.click(BEN, placeOf(waiting), 'change.approve');
  expect(pressed.error).toBeTruthy();
  await expect.poll(privateTextsOf(stage, BEN), PATIENCE).toContain(AWAY);

  // A failover takes 30 s and more.
  const storeAttempts = () => bot.said().filter((words) => words === NOT_YET).length;
  await expect.poll(storeAttempts, LONG).toBe(5);

  await server.start();
  await expect.poll(() => getText(bot, '/readyz'), PATIENCE).toEqual(ready);
  await expectAllDone(server.url, work);
});

test(
  'a network that drops all database packets loses nothing and repeats nothing',
  TAKES_LONG,
  async () => {
    const server = await openServer();
    const wire = await openWire(server.port);
    const work = await startWithOpenChanges(wire.through(server.url));
    const { stage, bot, waiting } = work;
    const { slack } = stage;

    wire.hold();
    expect(await getText(bot, '/readyz')).toEqual({
      status: 503,
      says: 'The database does not answer. Check that the server of DATABASE_URL is running.',
    });
    expect((await getText(bot, '/healthz')).status).toBe(200);
    expect((await getText(bot, '/metrics')).says).toContain('signalbox_database_readable 0');
    work.answer();
    await slack.command(ANA, 'ops', '/service start staging');
    const pressed = await slack.click(BEN, placeOf(waiting), 'change.approve');
    expect(pressed.error).toBeTruthy();
    await expect.poll(privateTextsOf(stage, ANA), LONG).toContain(AWAY);
    await expect.poll(privateTextsOf(stage, BEN), LONG).toContain(AWAY);

    wire.release();
    await expect.poll(() => getText(bot, '/readyz'), LONG).toEqual(ready);
    await expectAllDone(server.url, work);
  },
);

test(
  'a digest that is due during a database outage is posted once afterwards',
  TAKES_LONG,
  async () => {
    const url = await freshUrl('postgres');
    const wire = await openWire(Number(new URL(url).port));
    const digest = { channel: '#db-costs', at: '13:00', timezone: 'UTC', days: 'daily' };
    const yaml = (file: object) => ({ ...file, digests: [digest] });
    const stage = await openStage({ databaseUrl: wire.through(url), yaml });
    const posted = () => stage.slack.messages('db-costs').filter(({ threadTs }) => !threadTs);
    const ready = async () => (await fetch(`${stage.url}/readyz`)).status;
    wire.hold();
    stage.clock.now = new Date('2026-11-20T13:01:00Z');
    stage.wake();
    expect(await ready()).toBe(503);
    expect(posted()).toEqual([]);

    wire.release();
    await expect.poll(ready, LONG).toBe(200);
    stage.clock.now = new Date('2026-11-20T13:02:00Z');
    stage.wake();
    await expect.poll(() => posted().length, LONG).toBe(1);
    stage.clock.now = new Date('2026-11-20T14:00:00Z');
    stage.wake();
    await settled(stage);
    expect(posted()).toHaveLength(1);
  },
);
