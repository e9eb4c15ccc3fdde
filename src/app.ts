import { setTimeout as wait } from 'node:timers/promises';
import type { AgentDoor } from './agents/index.ts';
import { openBot, type RunningBot } from './app-bot.ts';
import { type Door, openServers, type Probes } from './app-server.ts';
import {
  type AppOptions,
  type BotOptions,
  connectForStart,
  connectSlack,
  createStartRetries,
  openClock,
  openForStart,
  RefusedStart,
  refusedStart,
  refuseMovedGroups,
  startingProbes,
} from './app-start.ts';
import { getDocument } from './base/http.ts';
import type { ConfigProblem } from './base/problem.ts';
import { systemClock } from './base/time.ts';
import { commands } from './commands/index.ts';
import { type Log, placeKeys, recordIds } from './log/index.ts';
import {
  type Config,
  type ConfigLoad,
  createAlertDoor,
  createMetrics,
  fixedUntilRestart,
  type Metrics,
  openRecorder,
  proveWritable,
  type Readings,
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
import { databaseProblem, withAnswerLimit } from './storage/errors.ts';
import { listInstances, reading } from './storage/index.ts';
import { MESSAGE_KINDS } from './workflow/index.ts';

/**
 * Listens, opens Slack and the database, and starts the bot. While Slack or the database does not
 * respond, it retries, answers the liveness probe and reports why it is not ready.
 */
export async function startApp(given: AppOptions) {
  const { config, version, log, cancel, now = () => new Date(), clock = systemClock } = given;
  const { recording } = config;
  const { commandPrefix: prefix } = config.slack;
  const record = recording ? openRecorder({ ...recording, prefix, commands, now, log }) : undefined;
  const options = { ...given, record };
  const metrics = createMetrics({
    version,
    messageKinds: MESSAGE_KINDS,
    slackLimits: METHOD_LIMITS,
  });
  const { measures } = metrics;
  const retries = createStartRetries({ log, clock, cancel });
  const textOf = (readings: Readings) => metrics.text(readings, now());
  const servers = await openServers(
    config,
    startingProbes(retries.problems, config.configHash, textOf),
  );
  // What is open, to be closed in the opposite order.
  const opened = new AsyncDisposableStack();
  opened.defer(servers.closeConnections);
  try {
    const slack = await retries.repeat(() => connectForStart(options, { now, measures }));
    const { store, events } = await retries.repeat(() => openForStart(options));
    opened.defer(store.close);
    const time = await openClock(options, store);
    opened.defer(time.stop);
    const shared = { now: time.now, store, events, measures };
    const onRefused = (error: unknown) => options.onAppTokenRefused?.(appTokenRefusal(error));
    const replicas = async () => (await reading(store, listInstances)).length;
    const deliveries = slack.deliveries({ onRefused, replicas });
    const bot = await openBotFor(options, shared, slack, store.engine === 'sqlite');
    const app: App = { options, shared, metrics, deliveries, bot, agents: null };
    opened.defer(async () => {
      await app.bot.stop();
      servers.closeConnections();
    });
    opened.defer(async () => {
      await app.agents?.close();
      await deliveries.close();
      await wait(options.leaveWithinMs ?? 0);
      servers.close();
    });
    bot.attach(deliveries);
    servers.answerWith(
      deliveries.listener,
      runningProbes(app, () => opened.disposed),
      ...doorsOf(app),
    );
    await openDeliveries(deliveries, cancel);
    app.agents = await openAgents(app);
    if (config.slack.appToken === null) log.info(WAITING_FOR_SLACK);
    let reloading: Promise<unknown> = Promise.resolve();
    return {
      ok: true as const,
      port: servers.port,
      wake: () => app.bot.wake(),
      /** Replaces the configuration. Where it has problems, the current one stays in use. */
      reload: (next: ConfigLoad) => {
        const reloaded = reloading.then(() => reload(app, next));
        reloading = reloaded.catch(() => undefined);
        return reloaded;
      },
      stop: () => opened.disposeAsync(),
    };
  } catch (error) {
    await opened.disposeAsync();
    const refused = refusedStart(error);
    if (refused === null) throw error;
    log.debug({ err: error }, 'the start was refused');
    return { ok: false as const, problems: refused.problems, lasting: refused.lasting };
  }
}

/** What runs from the start to the stop, and the bot of the current configuration. */
interface App {
  /** With the configuration of the start. */
  readonly options: AppOptions;
  readonly shared: SharedParts;
  readonly metrics: Metrics;
  readonly deliveries: Deliveries;
  /** A reload replaces it. */
  bot: RunningBot;
  /** Null: no agent is configured, and nothing of the protocol is loaded. A reload replaces it. */
  agents: AgentDoor | null;
}

/** What one bot leaves to the next one. */
type SharedParts = Pick<BotOptions, 'now' | 'store' | 'events' | 'measures'>;

async function openBotFor(
  options: AppOptions,
  shared: SharedParts,
  slack: Slack,
  takesOver: boolean,
  replaces: RunningBot | null = null,
): Promise<RunningBot> {
  const { events } = shared;
  await refuseMovedGroups(events, slack.groupIds);
  const messenger = slack.openMessenger(channelIdsIn(events), placeKeys(events.keys));
  return openBot({ ...options, ...shared, messenger, takesOver, replaces }, slack);
}

/** The first id of a channel stays: another channel of the same name would read what is confidential. */
function channelIdsIn(events: Log): ChannelIdStore {
  return {
    read: () => recordIds(events, new Map()),
    remember: async (name, id) => (await recordIds(events, new Map([[name, id]]))).get(name) ?? id,
  };
}

/** Receives what Slack delivers. Throws where Slack refuses the connection, or the start was cancelled. */
async function openDeliveries(
  deliveries: Deliveries,
  cancel: AbortSignal | undefined,
): Promise<void> {
  const close = () => void deliveries.close();
  cancel?.addEventListener('abort', close);
  try {
    if (!cancel?.aborted) await deliveries.open();
  } catch (error) {
    throw new RefusedStart([appTokenRefusal(error)], isLastingRefusal(error), error);
  } finally {
    cancel?.removeEventListener('abort', close);
  }
  if (cancel?.aborted) throw new RefusedStart([], false);
}

const WAITING_FOR_SLACK =
  'listening for requests of Slack. If none arrives, verify the request URL: open Event ' +
  'Subscriptions at api.slack.com/apps and choose Retry';

function appTokenRefusal(error: unknown): ConfigProblem {
  const { says, fix } = appTokenProblem(error);
  return { where: 'SLACK_APP_TOKEN', problem: says, hint: fix };
}

/** What answers on the main port beside Slack. */
function doorsOf(app: App): readonly Door[] {
  const { now, measures } = app.shared;
  const { log } = app.options;
  return [
    createAlertDoor({ now, measures, log, intake: () => app.bot.alerts }),
    {
      opens: (request) => app.agents?.opens(request) ?? false,
      answer: (request, response) => app.agents?.answer(request, response),
    },
  ];
}

async function openAgents({ options, shared, bot }: App): Promise<AgentDoor | null> {
  if (bot.agents === null) return null;
  const { openDoor } = await import('./agents/index.ts');
  const { config, version, log, clock = systemClock } = options;
  const { now, measures } = shared;
  const parts = { version, log, clock, now, measures, signingSecret: config.slack.signingSecret };
  return openDoor({ ...bot.agents, ...parts, read: getDocument });
}

function runningProbes(app: App, isStopping: () => boolean): Probes {
  const { deliveries, metrics } = app;
  const { store, events, now } = app.shared;
  const notReady = () =>
    withAnswerLimit(proveWritable(store)).then(
      () => null,
      (error: unknown) => databaseProblem(error) ?? 'The database does not respond.',
    );
  const disconnected = () => {
    if (isStopping()) return 'Signalbox is stopping.';
    return deliveries.isOpen() ? app.bot.slackProblem() : 'Slack is not connected.';
  };
  const readings = {
    gauges: () => readGauges(events, now(), app.bot.configuration),
    isWritable: async () => (await notReady()) === null,
    isConnected: () => disconnected() === null,
    configuration: () => app.bot.configuration,
  };
  const readinessWarning = () => app.bot.readinessWarning();
  const text = () => metrics.text(readings, now());
  return { notReady, readinessWarning, disconnected, metrics: text, elapsed: app.options.elapsed };
}

async function reload(app: App, next: ConfigLoad) {
  try {
    if (!next.ok) throw new RefusedStart(next.problems, true);
    await replaceBot(app, next.config);
    app.metrics.reloaded(true);
    return { ok: true } as const;
  } catch (error) {
    app.metrics.reloaded(false);
    if (error instanceof RefusedStart) return { ok: false, problems: error.problems } as const;
    throw error;
  }
}

/** Both bots use the same deliveries, so that no click is lost between them. */
async function replaceBot(app: App, config: Config): Promise<void> {
  const fixed = fixedUntilRestart(app.options.config, config);
  if (fixed.length > 0) throw new RefusedStart(fixed, true);
  const options = { ...app.options, config };
  const slack = await connectSlack(options, app.shared, false);
  const previous = app.bot;
  app.bot = await openBotFor(options, app.shared, slack, false, previous);
  app.bot.attach(app.deliveries);
  const previousDoor = app.agents;
  app.agents = await openAgents(app);
  await previousDoor?.close();
  await previous.stop();
}
