import { setTimeout as wait } from 'node:timers/promises';
import pino from 'pino';
import { startApp } from '../../src/app.ts';
import { afterTimeout } from '../../test/harness/after-timeout.ts';
import { testConfig } from '../../test/harness/config.ts';
import { buttonsOf, isCard, placeOf, textOf } from '../../test/harness/messages.ts';
import { quietness } from '../../test/harness/passing-time.ts';
import { startSimulators } from '../../test/harness/simulators.ts';
import { ANA, BEN, CLEO, NOON } from '../../test/harness/users.ts';
import { until } from './until.ts';

/** A client waits at most this long: the clock is a passed-in one, and an outage lasts seconds. */
const LONGEST_SLEEP_MS = 250;

/** Slack and both APIs, which survive the failover, and bots on the database that each is given. All have one clock. */
export async function startWorld() {
  const time = { now: NOON };
  const now = () => time.now;
  const simulators = await startSimulators({ now, slack: { rateLimits: null } });
  const { slack, cloud, alerts } = simulators;
  const log = pino({ level: process.env.TEST_LOG ?? 'silent' });
  const timeout = (ms: number) => AbortSignal.timeout(Math.ceil(ms));
  const clock = {
    now: () => time.now.getTime(),
    sleep: async (ms: number) => void (await wait(Math.min(ms, LONGEST_SLEEP_MS))),
    ...{ timeout, after: afterTimeout(timeout), random: () => 0.5 },
  };
  const bots = new Set<Bot>();

  /** Starts a process of the bot. */
  async function start(databaseUrl: string) {
    const config = testConfig({ ...simulators.env, DATABASE_URL: databaseUrl });
    const app = await startApp({ config, version: 'failover', log, now, clock });
    if (!app.ok) throw new Error(JSON.stringify(app.problems));
    const bot = {
      url: `http://127.0.0.1:${app.port}`,
      wake: app.wake,
      stop: async () => {
        bots.delete(bot);
        await app.stop();
      },
    };
    bots.add(bot);
    return bot;
  }

  const quiet = async () => {
    const isQuiet = quietness({ slack, cloud, alerts });
    await until('A quiet moment', isQuiet, 120_000);
  };
  /** Moves the clock in steps and wakes all bots after each. */
  const pass = async (minutes: number, steps: number) => {
    for (let step = 0; step < steps; step += 1) {
      time.now = new Date(time.now.getTime() + (minutes * 60_000) / steps);
      for (const bot of bots) bot.wake();
      await quiet();
    }
  };
  const cards = () => slack.messages('db-approvals').filter(isCard);
  const card = (words: string) =>
    until(`A card with “${words}”`, () =>
      cards().findLast((message) => textOf(message).includes(words)),
    );

  /** Ana requests a change and confirms it, and Ben approves it. */
  async function approved(line: string, question: string, requested: string) {
    await slack.command(ANA, 'ops', line);
    const preview = await until(`The preview of ${line}`, () =>
      slack.clientState(ANA).messages.findLast((message) => textOf(message).includes(question)),
    );
    await slack.click(ANA, placeOf(preview), 'change.confirm');
    const asked = await card(requested);
    await slack.click(BEN, placeOf(asked), 'change.approve');
    return asked.ts;
  }

  return {
    slack,
    cloud,
    start,
    quiet,
    pass,
    card,
    approved,
    deliverTo: simulators.deliverTo,
    cardAt: (ts: string) => cards().find((message) => message.ts === ts),
    /** Presses Approve wherever a button stands. */
    approveAgain: async () => {
      for (const message of cards()) {
        if (!buttonsOf(message).includes('change.approve')) continue;
        for (const user of [BEN, CLEO]) {
          await slack.click(user, placeOf(message), 'change.approve');
        }
      }
    },
    close: async () => {
      for (const bot of bots) await bot.stop();
      await simulators.stop();
    },
  };
}

export type World = Awaited<ReturnType<typeof startWorld>>;
export type Bot = Awaited<ReturnType<World['start']>>;
