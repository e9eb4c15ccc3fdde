import type { Logger } from 'pino';
import { onTestFinished } from 'vitest';
import type { RateLimits } from '../../sandbox/slack/web-api/rate-limits.ts';
import { startApp } from '../../src/app.ts';
import { createLog } from '../../src/base/log.ts';
import type { Clock } from '../../src/base/time.ts';
import type { Config } from '../../src/ops/index.ts';
import { afterTimeout } from './after-timeout.ts';
import { type EditYaml, testConfig } from './config.ts';
import type { Network } from './network.ts';
import { peopleOn } from './people.ts';
import { type SimulatorOptions, startSimulators } from './simulators.ts';
import { NOON } from './users.ts';

export interface TestSandboxOptions extends Omit<SimulatorOptions, 'now'> {
  readonly databaseUrl?: string;
  /** The time at which the clock of the sandbox starts. */
  readonly at?: Date;
  /** More variables of the environment. */
  readonly env?: Readonly<Record<string, string>>;
  /** Slack applies its rate limits, by the clock of the sandbox. */
  readonly rateLimits?: RateLimits;
  /** A wait of a client moves the clock of the sandbox; otherwise it returns at once. */
  readonly waitsPass?: boolean;
  /** Replaces the sleeps of the clients, for tests in which a wait lasts until its time has come. */
  readonly sleep?: Clock['sleep'];
  readonly log?: Logger;
  /** Puts a proxy between the bot and an API: gets the API's URL and returns the proxy's. */
  readonly through?: (url: string) => Promise<string>;
  /** Between the bot and Slack and both APIs. */
  readonly network?: Network;
  readonly yaml?: EditYaml;
}

/** The real bot with simulators of Slack and both APIs, all on one clock. */
export async function startTestSandbox(options: TestSandboxOptions = {}) {
  const clock = { now: options.at ?? NOON };
  const now = () => clock.now;
  const pass = (ms: number) => {
    if (options.waitsPass) clock.now = new Date(clock.now.getTime() + ms);
  };
  let aheadMs = 0;
  const waits = heldWaits();
  // Each request for metrics or readiness gets a check of its own: no test waits for the next second.
  let checks = 0;
  const elapsed = () => {
    checks += 1;
    return checks * 1_000;
  };
  const { network, databaseUrl = 'file::memory:' } = options;
  const { through = network?.open ?? (async (url: string) => url) } = options;
  const simulators = await startSimulators({
    ...options,
    now,
    slack: {
      rateLimits: options.rateLimits ?? null,
      ...(network && { host: network.host }),
      ...options.slack,
    },
  });
  const { slack, cloud, other, alerts } = simulators;
  await network?.open(slack.url);
  const env = {
    ...simulators.env,
    CLOUD_API_URL: await through(simulators.env.CLOUD_API_URL),
    ALERTS_API_URL: await through(alerts.url),
    DATABASE_URL: databaseUrl,
    ...options.env,
  };
  const configOf = (yaml = options.yaml) => testConfig(env, yaml);
  const startBot = (config: Config) => {
    const { log = createLog({ level: process.env.TEST_LOG ?? 'silent' }) } = options;
    const nowOfClients = () => clock.now.getTime() + aheadMs;
    const ownClock = clientClock(nowOfClients, { pass, hold: waits.hold });
    if (options.sleep) ownClock.sleep = options.sleep;
    return startApp({ config, version: 'test', log, now, clock: ownClock, elapsed });
  };
  const start = async (config = configOf()) => {
    const started = await startBot(config);
    if (started.ok) simulators.deliverTo({ url: `http://127.0.0.1:${started.port}` });
    return started;
  };
  const config = configOf();
  let app = await start(config);
  onTestFinished(async () => {
    if (app.ok) await app.stop();
    await simulators.stop();
  });

  const wake = () => {
    if (app.ok) app.wake();
  };
  return {
    slack,
    cloud,
    /** The second organization; null: there is one. */
    other,
    alerts,
    clock,
    started: app,
    config,
    url: app.ok ? `http://127.0.0.1:${app.port}` : '',
    /** Ends the waits up to this time in which a user waits for an answer: they never end by themselves. */
    elapse: waits.elapse,
    /** Changes variables of the environment, for bots that start from now on. */
    setEnv: (more: Readonly<Record<string, string>>) => void Object.assign(env, more),
    wake,
    /** Lets this time pass for the request budgets of the clients only: no text shows it. */
    passForClients: (ms: number) => {
      aheadMs += ms;
    },
    /** Lets this time pass. */
    pass: (ms: number) => {
      clock.now = new Date(clock.now.getTime() + ms);
      wake();
    },
    /** Starts a second bot on the same database. */
    replica: async () => {
      const other = await startBot(configOf());
      if (!other.ok) throw new Error(JSON.stringify(other.problems));
      let stopping: Promise<void> | null = null;
      const stop = () => {
        stopping ??= other.stop();
        return stopping;
      };
      onTestFinished(stop);
      return { ...other, stop };
    },
    /** Stops the bot until `restart`. */
    down: async () => {
      if (app.ok) await app.stop();
      app = { ok: false, problems: [], lasting: false };
    },
    /** An edited configuration, for the reload of a replica. */
    configWith: configOf,
    /** Reloads an edited configuration file without a restart. */
    reload: async (yaml?: EditYaml) => {
      if (!app.ok) throw new Error('The bot does not run');
      return app.reload({ ok: true, config: testConfig(env, yaml) });
    },
    /** Restarts the bot, for example with an edited policy. */
    restart: async (yaml?: EditYaml) => {
      if (app.ok) await app.stop();
      app = await start(configOf(yaml));
      if (!app.ok) throw new Error(JSON.stringify(app.problems));
    },
    /** Restarts the bot and returns why the start was refused; null if it was not. */
    refusedRestart: async () => {
      if (app.ok) await app.stop();
      app = await start();
      return app.ok ? null : app;
    },
    ...peopleOn(slack),
  };
}

export type TestSandbox = Awaited<ReturnType<typeof startTestSandbox>>;

/** Waits of a user: for links and names, before a progress notice, before one that stays, and for an optional read. */
const HELD_MS = [1_000, 2_000, 8_000, 10_000];

/** Waits that only the test ends, so that no answer depends on the speed of the machine. */
function heldWaits() {
  const held: { readonly ms: number; readonly controller: AbortController }[] = [];
  const hold = (ms: number): AbortSignal => {
    const controller = new AbortController();
    held.push({ ms, controller });
    return controller.signal;
  };
  const elapse = (ms: number) => {
    for (const each of held.splice(0)) {
      if (each.ms <= ms) each.controller.abort();
      else held.push(each);
    }
  };
  return { hold, elapse };
}

interface Waits {
  readonly pass: (ms: number) => void;
  readonly hold: (ms: number) => AbortSignal;
}

// The clients use the clock of the sandbox; a sleep returns at once.
function clientClock(now: () => number, { pass, hold }: Waits): Clock {
  const timeout = (ms: number) =>
    HELD_MS.includes(ms) ? hold(ms) : AbortSignal.timeout(Math.ceil(ms));
  return {
    now,
    sleep: async (ms) => pass(ms),
    timeout,
    after: afterTimeout(timeout),
    random: () => 0.5,
  };
}
