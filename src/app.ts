import { setTimeout as wait } from 'node:timers/promises';
import type { Measures } from './base/log.ts';
import { systemClock } from './base/time.ts';
import { openBot } from './bot.ts';
import type { AppOptions } from './bot-options.ts';
import { keyProblem } from './log/old/append.ts';
import { rememberChannelId, storedChannelIds } from './log/old/channel-ids.ts';
import { readKeyRing } from './log/old/key-ring.ts';
import { openClock, type ProcessClock } from './open-clock.ts';
import type { Config, ConfigLoad, ConfigProblem } from './ops/config.ts';
import { fixedUntilRestart } from './ops/config.ts';
import { createMetrics, type Metrics, readGauges } from './ops/telemetry.ts';
import { type HttpServers, openServers, type Probes } from './server.ts';
import { appTokenProblem, isLastingRefusal, METHOD_LIMITS } from './slack/api.ts';
import type { ChannelIdStore } from './slack/channels.ts';
import type { Slack } from './slack/connect.ts';
import {
  auditChannelProblem,
  connectForStart,
  connectSlack,
  KEY_PROBLEMS,
  openForStart,
  type RefusedStart,
  refusedDatabase,
} from './start-checks.ts';
import { createStartRetries, startingProbes } from './start-retries.ts';
import { databaseProblem } from './storage/errors.ts';
import type { Database } from './storage/old/database.ts';
import { MESSAGE_KINDS } from './storage/old/outbox-message.ts';
import { postedAnchors } from './workflow/old/anchors.ts';

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
    const opened = await retries.repeat(() => openForStart(options, now));
    if (!opened.ok) return opened;
    const resources = { slack: connected.slack, database: opened.database };
    const result = await serveOrClose(options, { ...resources, metrics, measures, servers });
    isOpen = result.ok;
    return result;
  } finally {
    if (!isOpen) servers.closeConnections();
  }
}

interface AppResources {
  readonly slack: Slack;
  readonly database: Database;
  readonly metrics: Metrics;
  readonly measures: Measures;
  readonly servers: HttpServers;
}

async function serveOrClose(options: AppOptions, opened: AppResources): Promise<StartResult> {
  const { database } = opened;
  try {
    return await serve(options, opened, await openClock(options, database));
  } catch (error) {
    await database.close();
    const refused = refusedDatabase(error);
    if (refused === null) throw error;
    options.log.debug({ err: error }, 'database cannot be used');
    return refused;
  }
}

async function serve(
  options: AppOptions,
  { slack, database, metrics, measures, servers }: AppResources,
  clock: ProcessClock,
): Promise<StartResult> {
  const { config } = options;
  const auditKey = readKeyRing(
    config.key?.reveal() ?? null,
    config.previousKeys.map((one) => one.reveal()),
  );
  const wrongKey = await keyProblem(database.db, auditKey);
  const messengerOf = (connected: Slack) => connected.openMessenger(openChannelIds(database));
  const messenger = messengerOf(slack);
  const anchors = await postedAnchors(messenger, auditKey);
  const problem = wrongKey
    ? KEY_PROBLEMS[wrongKey]
    : await auditChannelProblem(database.db, anchors);
  if (problem) {
    clock.stop();
    await database.close();
    return { ok: false, problems: [problem], lasting: true };
  }
  const { now } = clock;
  const shared = { now, database, auditKey, measures };

  let bot = await openBot(
    { ...options, ...shared, messenger, anchors, takesOver: database.isExclusive, replaces: null },
    slack,
  );
  const deliveries = slack.deliveries((error) =>
    options.onAppTokenRefused?.(appTokenRefusal(error)),
  );
  const notReady = () =>
    database.check().then(
      () => null,
      (error: unknown) => databaseProblem(error) ?? 'The database does not respond.',
    );
  const readings = {
    gauges: () => readGauges(database.db, now(), bot.configuration),
    isWritable: async () => (await notReady()) === null,
    isConnected: () => deliveries.isOpen(),
    configuration: () => bot.configuration,
  };
  const probes: Probes = {
    notReady,
    readinessWarning: () => bot.readinessWarning(),
    disconnected: () => (deliveries.isOpen() ? null : 'Slack is not connected.'),
    metrics: {
      contentType: metrics.contentType,
      text: () => metrics.text(readings, now()),
    },
  };
  bot.attach(deliveries);
  servers.answerWith(deliveries.listener, probes);

  /** Both bots use the same deliveries, so that no click is lost between them. */
  const activate = async (next: Config): Promise<ReloadResult> => {
    const fixed = fixedUntilRestart(config, next);
    if (fixed.length > 0) return { ok: false, problems: fixed };
    const own = { ...options, config: next };
    const connected = await connectSlack(own, { now, measures, opensSocket: false });
    if (!connected.ok) return connected;
    const messenger = messengerOf(connected.slack);
    const anchors = await postedAnchors(messenger, auditKey);
    const foreign = await auditChannelProblem(database.db, anchors);
    if (foreign) return { ok: false, problems: [foreign] };
    const previous = bot;
    bot = await openBot(
      { ...own, ...shared, messenger, anchors, takesOver: false, replaces: previous.instance },
      connected.slack,
    );
    bot.attach(deliveries);
    await previous.stop();
    return { ok: true };
  };
  const reload = async (next: ConfigLoad): Promise<ReloadResult> => {
    let isActive = false;
    try {
      const result = next.ok ? await activate(next.config) : next;
      isActive = result.ok;
      return result;
    } finally {
      metrics.reloaded(isActive);
    }
  };
  const stop = async () => {
    await deliveries.close();
    await wait(options.leaveWithinMs ?? 0);
    servers.close();
    await bot.stop();
    servers.closeConnections();
    clock.stop();
    await database.close();
  };
  const { cancel } = options;
  const close = () => void deliveries.close();
  cancel?.addEventListener('abort', close);
  try {
    if (!cancel?.aborted) await deliveries.open();
  } catch (error) {
    await stop();
    return { ok: false, problems: [appTokenRefusal(error)], lasting: isLastingRefusal(error) };
  } finally {
    cancel?.removeEventListener('abort', close);
  }
  if (cancel?.aborted) {
    await stop();
    return { ok: false, problems: [], lasting: false };
  }
  if (config.slack.appToken === null) options.log.info(WAITING_FOR_SLACK);
  const { port } = servers;
  return { ok: true, port, wake: () => bot.wake(), reload: oneAtATime(reload), stop };
}

function openChannelIds(database: Database): ChannelIdStore {
  return {
    read: () => storedChannelIds(database.db),
    remember: (name, id) => database.transaction((tx) => rememberChannelId(tx, name, id)),
  };
}

function appTokenRefusal(error: unknown): ConfigProblem {
  const { says, fix } = appTokenProblem(error);
  return { where: 'SLACK_APP_TOKEN', problem: says, hint: fix };
}

const WAITING_FOR_SLACK =
  'listening for requests of Slack. If none arrives, verify the request URL: open Event ' +
  'Subscriptions at api.slack.com/apps and choose Retry';

function oneAtATime<In, Out>(work: (input: In) => Promise<Out>): (input: In) => Promise<Out> {
  let last: Promise<unknown> = Promise.resolve();
  return (input) => {
    const next = last.then(() => work(input));
    last = next.catch(() => undefined);
    return next;
  };
}
