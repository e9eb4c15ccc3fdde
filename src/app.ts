import { setTimeout as wait } from 'node:timers/promises';
import { openBot, type RunningBot } from './app-bot.ts';
import { type HttpServers, openServers, type Probes } from './app-server.ts';
import {
  type AppOptions,
  type BotOptions,
  connectForStart,
  connectSlack,
  createStartRetries,
  movedGroups,
  openClock,
  openForStart,
  type RefusedStart,
  refusedDatabase,
  startingProbes,
} from './app-start.ts';
import type { ConfigProblem } from './base/problem.ts';
import { systemClock } from './base/time.ts';
import { type Log, placeKeys, recordIds } from './log/index.ts';
import {
  type AlertDoor,
  type Config,
  type ConfigLoad,
  createAlertDoor,
  createMetrics,
  fixedUntilRestart,
  type Metrics,
  proveWritable,
  readGauges,
} from './ops/index.ts';
import {
  appTokenProblem,
  type ChannelIdStore,
  type Deliveries,
  isLastingRefusal,
  METHOD_LIMITS,
  type Slack,
} from './slack/index.ts';
import { databaseProblem } from './storage/errors.ts';
import type { Store } from './storage/index.ts';
import { MESSAGE_KINDS } from './workflow/index.ts';

type StartResult =
  | {
      readonly ok: true;
      readonly port: number;
      readonly wake: () => void;
      /** Replaces the configuration. Where it has problems, the current one stays in use. */
      readonly reload: (next: ConfigLoad) => Promise<ReloadResult>;
      readonly stop: () => Promise<void>;
    }
  | RefusedStart;

type ReloadResult =
  | { readonly ok: true }
  | { readonly ok: false; readonly problems: readonly ConfigProblem[] };

/**
 * Listens, opens Slack and the database, and starts the bot. While Slack or the database does not
 * respond, it retries, answers the liveness probe and reports why it is not ready.
 */
export async function startApp(options: AppOptions): Promise<StartResult> {
  const { config, version, log, cancel, now = () => new Date(), clock = systemClock } = options;
  const metrics = createMetrics({
    version,
    messageKinds: MESSAGE_KINDS,
    slackLimits: METHOD_LIMITS,
  });
  const { measures } = metrics;
  const retries = createStartRetries({ log, clock, cancel });
  const { problems } = retries;
  const servers = await openServers(config, startingProbes({ problems, config, metrics, now }));
  let isOpen = false;
  try {
    const connected = await retries.repeat(() => connectForStart(options, { now, measures }));
    if (!connected.ok) return connected;
    const opened = await retries.repeat(() => openForStart(options));
    if (!opened.ok) return opened;
    const { store, events } = opened;
    const { slack } = connected;
    const started = await openApp(options, { slack, store, events, metrics, servers });
    const result = started.ok ? await deliver(started) : started;
    isOpen = result.ok;
    return result;
  } finally {
    if (!isOpen) servers.closeConnections();
  }
}

/** What runs from the start to the stop, and the bot of the current configuration. */
interface App {
  readonly ok: true;
  /** With the configuration of the start. */
  readonly options: AppOptions;
  readonly shared: SharedParts;
  readonly metrics: Metrics;
  readonly servers: HttpServers;
  readonly deliveries: Deliveries;
  readonly stopClock: () => void;
  /** A reload replaces it. */
  bot: RunningBot;
}

/** What one bot leaves to the next one. */
type SharedParts = Pick<BotOptions, 'now' | 'store' | 'events' | 'measures'>;

interface OpenedParts extends Pick<App, 'metrics' | 'servers'> {
  readonly slack: Slack;
  readonly store: Store;
  readonly events: Log;
}

/** Opens the first bot. Where it cannot run, the clock stops and the database is closed. */
async function openApp(
  options: AppOptions,
  { slack, store, events, metrics, servers }: OpenedParts,
): Promise<App | RefusedStart> {
  let stopClock = () => {};
  let app: App | null = null;
  try {
    const clock = await openClock(options, store);
    stopClock = clock.stop;
    const shared = { now: clock.now, store, events, measures: metrics.measures };
    const opened = await openBotFor(options, shared, slack, null);
    if (!opened.ok) return opened;
    const onRefused = (error: unknown) => options.onAppTokenRefused?.(appTokenRefusal(error));
    const deliveries = slack.deliveries(onRefused);
    app = { ...opened, options, shared, metrics, servers, deliveries, stopClock };
    return app;
  } catch (error) {
    const refused = refusedDatabase(error);
    if (refused === null) throw error;
    options.log.debug({ err: error }, 'database cannot be used');
    return refused;
  } finally {
    if (!app) {
      stopClock();
      await store.close();
    }
  }
}

/** Opens a bot that takes the place of `replaces`, or of none at a start. */
async function openBotFor(
  options: AppOptions,
  shared: SharedParts,
  slack: Slack,
  replaces: string | null,
): Promise<{ readonly ok: true; readonly bot: RunningBot } | RefusedStart> {
  const { store, events } = shared;
  const problems = await movedGroups(events, slack.groupIds);
  if (problems.length > 0) return { ok: false, problems, lasting: true };
  const messenger = slack.openMessenger(channelIdsIn(events), placeKeys(events.keys));
  const takesOver = store.engine === 'sqlite' && replaces === null;
  const given = { ...options, ...shared, messenger, takesOver, replaces };
  return { ok: true, bot: await openBot(given, slack) };
}

/** The first id of a channel stays: another channel of the same name would read what is confidential. */
function channelIdsIn(events: Log): ChannelIdStore {
  return {
    read: () => recordIds(events, new Map()),
    remember: async (name, id) => (await recordIds(events, new Map([[name, id]]))).get(name) ?? id,
  };
}

/** Answers Slack and the probes from now on; stops where Slack refuses the connection. */
async function deliver(app: App): Promise<StartResult> {
  const { options, deliveries, servers } = app;
  const { cancel, config, log } = options;
  app.bot.attach(deliveries);
  servers.answerWith(deliveries.listener, runningProbes(app), alertDoor(app));
  const close = () => void deliveries.close();
  cancel?.addEventListener('abort', close);
  try {
    if (!cancel?.aborted) await deliveries.open();
  } catch (error) {
    await stop(app);
    return { ok: false, problems: [appTokenRefusal(error)], lasting: isLastingRefusal(error) };
  } finally {
    cancel?.removeEventListener('abort', close);
  }
  if (cancel?.aborted) {
    await stop(app);
    return { ok: false, problems: [], lasting: false };
  }
  if (config.slack.appToken === null) log.info(WAITING_FOR_SLACK);
  return {
    ok: true,
    port: servers.port,
    wake: () => app.bot.wake(),
    reload: oneAtATime((next) => reload(app, next)),
    stop: () => stop(app),
  };
}

const WAITING_FOR_SLACK =
  'listening for requests of Slack. If none arrives, verify the request URL: open Event ' +
  'Subscriptions at api.slack.com/apps and choose Retry';

function appTokenRefusal(error: unknown): ConfigProblem {
  const { says, fix } = appTokenProblem(error);
  return { where: 'SLACK_APP_TOKEN', problem: says, hint: fix };
}

function alertDoor(app: App): AlertDoor {
  const { now, measures } = app.shared;
  return createAlertDoor({
    ...{ now, measures },
    log: app.options.log,
    intake: () => app.bot.alerts,
  });
}

function runningProbes(app: App): Probes {
  const { deliveries, metrics } = app;
  const { store, events, now } = app.shared;
  const notReady = () =>
    proveWritable(store).then(
      () => null,
      (error: unknown) => databaseProblem(error) ?? 'The database does not respond.',
    );
  const readings = {
    gauges: () => readGauges(events, now(), app.bot.configuration),
    isWritable: async () => (await notReady()) === null,
    isConnected: () => deliveries.isOpen(),
    configuration: () => app.bot.configuration,
  };
  const { contentType } = metrics;
  return {
    notReady,
    readinessWarning: () => app.bot.readinessWarning(),
    disconnected: () => (deliveries.isOpen() ? null : 'Slack is not connected.'),
    metrics: { contentType, text: () => metrics.text(readings, now()) },
  };
}

async function reload(app: App, next: ConfigLoad): Promise<ReloadResult> {
  let isActive = false;
  try {
    const result = next.ok ? await replaceBot(app, next.config) : next;
    isActive = result.ok;
    return result;
  } finally {
    app.metrics.reloaded(isActive);
  }
}

/** Both bots use the same deliveries, so that no click is lost between them. */
async function replaceBot(app: App, config: Config): Promise<ReloadResult> {
  const fixed = fixedUntilRestart(app.options.config, config);
  if (fixed.length > 0) return { ok: false, problems: fixed };
  const options = { ...app.options, config };
  const { now, measures } = app.shared;
  const connected = await connectSlack(options, { now, measures, opensSocket: false });
  if (!connected.ok) return connected;
  const previous = app.bot;
  const opened = await openBotFor(options, app.shared, connected.slack, previous.instance);
  if (!opened.ok) return opened;
  app.bot = opened.bot;
  app.bot.attach(app.deliveries);
  await previous.stop();
  return { ok: true };
}

function oneAtATime<In, Out>(work: (input: In) => Promise<Out>): (input: In) => Promise<Out> {
  let last: Promise<unknown> = Promise.resolve();
  return (input) => {
    const next = last.then(() => work(input));
    last = next.catch(() => undefined);
    return next;
  };
}

async function stop({ options, deliveries, servers, bot, shared, stopClock }: App): Promise<void> {
  await deliveries.close();
  await wait(options.leaveWithinMs ?? 0);
  servers.close();
  await bot.stop();
  servers.closeConnections();
  stopClock();
  await shared.store.close();
}
