import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setImmediate as turn, setTimeout as wait } from 'node:timers/promises';
import pino from 'pino';
import { afterTimeout } from '../test/harness/after-timeout.ts';
import { testConfig } from '../test/harness/config.ts';
import { hasButton, isCard, placeOf, textOf } from '../test/harness/messages.ts';
import { startSimulators } from '../test/harness/simulators.ts';
import { ANA, BEN, FINN, NOON } from '../test/harness/users.ts';

export const SRC = join(import.meta.dirname, '../src/');
const WITHIN_MS = 120_000;
const SCALE = '/service scale staging min=16 max=64 "night saving"';
/** What a user types, after another user has: what the bot reads once is read by then. */
const TYPED = { command: [SCALE.replace('staging', 'ci'), SCALE], cost: ['/cost', '/cost'] };

export type Way = keyof typeof TYPED | 'approve';

/** Counts statements, and measures at the begin and at each point of a way. */
export interface Watch {
  readonly count: () => number;
  readonly begin: () => Promise<unknown>;
  readonly reached: (point: string) => Promise<unknown>;
}

// Nothing repeats by itself, so that only what the way causes is measured.
const { setInterval: repeat } = globalThis;
Object.assign(globalThis, { setInterval: (_: unknown, ms: number) => repeat(() => {}, ms) });

/** The file of src that defines this function, because files are renamed more often. */
export function fileOf(name: string): string {
  const pattern = new RegExp(`\\b(function|const) ${name}\\b`);
  const defines = (path: string) => pattern.test(readFileSync(path, 'utf8'));
  const files = globSync(`${SRC}**/*.ts`).filter(defines);
  if (files[0] && files.length === 1) return files[0];
  throw new Error(`${files.length} files of src define ${name}: correct the name in bench/trace`);
}

/** The bot and its simulators in this process. */
async function startBot({ count }: Watch) {
  const clock = { now: NOON };
  const now = () => clock.now;
  const patient = { rateLimits: null, ackTimeoutMs: WITHIN_MS };
  const { slack, cloud, ...simulators } = await startSimulators({ now, slack: patient });
  const env = { ...simulators.env, DATABASE_URL: 'file::memory:' };
  // No deadline ends, so that nothing depends on the speed of the machine.
  const timeout = () => new AbortController().signal;
  const timing = { timeout, after: afterTimeout(timeout), sleep: async () => undefined };
  const { startApp } = await import(fileOf('startApp'));
  const app = await startApp({
    ...{ version: 'trace', log: pino({ level: process.env.TEST_LOG ?? 'silent' }), now },
    config: testConfig(env, (file) => ({ ...file, cloud: { reads: 'extended' } })),
    clock: { ...timing, now: () => now().getTime(), random: () => 0.5 },
  });
  if (!app.ok) throw new Error(JSON.stringify(app.problems));
  simulators.deliverTo({ url: `http://127.0.0.1:${app.port}` });

  const quiet = async () => {
    for (let [before, same] = [-1, 0]; same < 4; await wait(100)) {
      const done = slack.calls().length + cloud.requests().length + count();
      same = done === before ? same + 1 : 0;
      before = done;
    }
  };
  /** The budget of requests is full after it, and what has become due is done. */
  const rest = async () => {
    await quiet();
    clock.now = new Date(clock.now.getTime() + 11_000);
    app.wake();
    await quiet();
  };
  return { slack, cloud, quiet, rest, stop: () => app.stop().then(simulators.stop) };
}

type Bot = Awaited<ReturnType<typeof startBot>>;

/** Looks in each turn of the event loop, so that nothing later is measured. */
async function until<Value>(what: string, read: () => Value | undefined): Promise<Value> {
  for (const last = performance.now() + WITHIN_MS; performance.now() < last; await turn()) {
    const value = read();
    if (value !== undefined) return value;
  }
  throw new Error(`${what} did not come within ${WITHIN_MS / 1_000} s`);
}

/** Types a line and returns its private answer as soon as Slack has it. */
async function type({ slack }: Bot, as: string, line = '') {
  const isPrivate = ({ ephemeral = false, channel = '' }) => ephemeral || channel.startsWith('D');
  const answers = () => slack.clientState(as).messages.filter(isPrivate);
  const before = answers().length;
  const sent = slack.command(as, 'ops', line);
  const answer = await until(`The answer to ${line}`, () => answers()[before]);
  return { answer, sent };
}

async function typeMeasured(bot: Bot, [before, line]: readonly string[], watch: Watch) {
  await (await type(bot, FINN, before)).sent;
  await bot.rest();
  await watch.begin();
  const { sent } = await type(bot, ANA, line);
  await watch.reached('private answer');
  await sent;
}

async function approveMeasured(bot: Bot, watch: Watch) {
  const { slack, cloud } = bot;
  const { answer, sent } = await type(bot, ANA, SCALE);
  await sent;
  await slack.click(ANA, placeOf(answer), 'change.confirm');
  const last = () => slack.messages('db-approvals').filter(isCard).slice(-1);
  const card = await until('A card', () => last().find((one) => hasButton(one, 'change.approve')));
  await bot.rest();
  await watch.begin();
  const pressed = slack.click(BEN, placeOf(card), 'change.approve');
  await until('The request', () => cloud.requests().find(({ method }) => method !== 'GET'));
  const [before] = last().map(textOf);
  await watch.reached('request at the cloud');
  await until('The redrawn card', () => last().find((one) => textOf(one) !== before));
  await watch.reached('redrawn card');
  await pressed;
}

/** Starts a bot, brings it to rest, and goes one way until nothing is left to do. */
export async function go(way: Way, watch: Watch): Promise<void> {
  const bot = await startBot(watch);
  await bot.rest();
  await (way === 'approve' ? approveMeasured(bot, watch) : typeMeasured(bot, TYPED[way], watch));
  await bot.quiet();
  await watch.reached('nothing left to do');
  await bot.stop();
}
