import { randomBytes, randomUUID } from 'node:crypto';
import { setTimeout as wait } from 'node:timers/promises';
import { openClock, openCommandContext, type ProcessClock } from './app-clients.ts';
import { type HttpServers, openServers, type Probes } from './app-server.ts';
import {
  type AppOptions,
  auditChannelProblem,
  type BotOptions,
  connectForStart,
  connectSlack,
  createStartRetries,
  KEY_PROBLEMS,
  openForStart,
  type RefusedStart,
  refusedDatabase,
  startingProbes,
} from './app-start.ts';
import { type Measures, step } from './base/log.ts';
import type { ConfigProblem } from './base/problem.ts';
import { HOUR_MS, systemClock } from './base/time.ts';
import { type ChangeCommand, commands } from './commands/index.ts';
import {
  createCostEstimator,
  createEffectMeasurement,
  createIncidentService,
  homeCosts,
  learnFromUsage,
} from './costs/index.ts';
import { changeIdFrom } from './domain/change.ts';
import { keyProblem } from './log/old/append.ts';
import { rememberChannelId, storedChannelIds } from './log/old/channel-ids.ts';
import { mayExecute } from './log/old/configurations.ts';
import { readKeyRing } from './log/old/key-ring.ts';
import {
  type Config,
  type ConfigLoad,
  createMetrics,
  fixedUntilRestart,
  type Metrics,
  readGauges,
} from './ops/index.ts';
import { createDiscovery, openDirectory } from './servers/directory.ts';
import {
  appTokenProblem,
  type ChannelIdStore,
  type Deliveries,
  isLastingRefusal,
  METHOD_LIMITS,
  type Slack,
} from './slack/index.ts';
import { databaseProblem } from './storage/errors.ts';
import type { Database } from './storage/old/database.ts';
import { MESSAGE_KINDS } from './storage/old/outbox-message.ts';
import { postedAnchors, trailJobs } from './workflow/old/anchors.ts';
import { authorizeQuery } from './workflow/old/authorize.ts';
import { createChangesQueries } from './workflow/old/changes-queries.ts';
import { openChannelCheck } from './workflow/old/channel-check.ts';
import { directRecipients } from './workflow/old/direct-recipients.ts';
import { createFollowLoop } from './workflow/old/follow-targets.ts';
import { adoptKey } from './workflow/old/key-change.ts';
import { startMaintenance, workflowJobs } from './workflow/old/maintenance.ts';
import type { DecisionContext, Trail, WorkflowContext } from './workflow/old/ports.ts';
import { startPresence } from './workflow/old/presence.ts';
import { recordStart, recordStop } from './workflow/old/process-events.ts';
import { takeOver } from './workflow/old/recover.ts';
import { stopRestoredChanges } from './workflow/old/restored.ts';
import { createScheduler } from './workflow/old/scheduler.ts';
import { createTrail } from './workflow/old/trail.ts';
import { workflowLoops } from './workflow/old/workflow-loops.ts';

const LOOP_EVERY_MS = 1_000;
const LEARN_EVERY_MS = 6 * HOUR_MS;

/** Everything that runs with one configuration, until it is stopped. */
interface RunningBot {
  /** Returns a problem to show at the readiness probe although the process is ready, or null. */
  readonly readinessWarning: () => Promise<string | null>;
  /** The id under which it owns leases. */
  readonly instance: string;
  /** The hash of its configuration file. */
  readonly configuration: string;
  readonly wake: () => void;
  /** Answers what Slack delivers from now on. */
  readonly attach: (deliveries: Deliveries) => void;
  /** Finishes the work in progress. To be called when nothing is delivered to this bot any more. */
  readonly stop: () => Promise<void>;
}

/** Wires the rooms and starts the background work. Deliveries are not answered before `attach`. */
export async function openBot(given: BotOptions, slack: Slack): Promise<RunningBot> {
  const options = { ...given, database: tracedDatabase(given.database) };
  const { config, log, now, database, auditKey, measures, messenger } = options;
  const { actors: people } = slack;
  const scheduler = createScheduler(log);
  const directory = await openDirectory(options);
  const verified = createTrail({ database, auditKey, log, now });
  const channelCheck = await openChannelCheck(options);
  const problem: Trail['problem'] = async (db) =>
    (await verified.problem(db)) ?? channelCheck.problem();
  const trail = { ...verified, problem };
  const cards = { notify: config.notify, someOf: people.someOf };
  const decisions: DecisionContext = {
    database,
    auditKey,
    trail,
    policy: config.policy,
    configuration: config.configHash,
    prices: config.prices,
    services: directory.services,
    discoversServices: config.reads === 'extended',
    commands: changeCommands(),
    people,
    messenger,
    directCards: directRecipients({ ...cards, messenger, now }),
    log,
    now,
    newId: () => changeIdFrom(randomBytes(6)),
    instance: randomUUID(),
    wake: scheduler.wake,
    measures,
  };
  let attached: Deliveries | null = null;
  const isConnected = () => attached?.isOpen() ?? false;
  const opened = openCommandContext(options, decisions);
  const discovery = createDiscovery({
    ...{ reads: opened.now().reads.cloud, directory, now },
    ...{ isOn: decisions.discoversServices, isReady: isConnected },
  });
  const measure = createEffectMeasurement({ ...decisions, costs: opened.storedCosts });
  const changes = createChangesQueries(decisions, slack.findPerson, measure);
  const commandContext = () => ({ ...opened.now(), changes });
  const context: WorkflowContext = {
    ...decisions,
    commandContext,
    refreshDirectory: directory.refresh,
    verifyServices: discovery.verify,
    incidents: createIncidentService({
      ...decisions,
      authorize: (by) =>
        authorizeQuery(decisions, { command: 'cost anomalies', target: null, by, fresh: true }),
    }),
    estimateCost: createCostEstimator({ ...decisions, costs: opened.now().costs }),
    homeCosts: () => homeCosts(opened.storedCosts, now()),
  };
  await adoptKey(decisions);
  await trail.verifyRecent();
  await recordStart(context, { version: options.version, config: config.configHash });
  await stopRestoredChanges(context, options.anchors);
  if (options.takesOver) await takeOver(context);
  await trail.writeCheckpoint();
  const work = workflowLoops(context);
  const listening = await slack.listen(context);
  // The last step that can fail: from here on, only this configuration executes changes.
  const { version, replaces } = options;
  const onReplicas = slack.actors.shareLimits;
  const presence = await startPresence(context, { version, replaces, onReplicas });
  const checkChannel = () => channelCheck.repeat(context);
  // Without the optional reads, a loop that needs them does not exist.
  const follow = config.reads === 'extended' && { followTargets: createFollowLoop(context) };
  const more = { checkChannel, discoverServices: discovery.pass, ...follow };
  const timed = { ...work.loops.timed, ...opened.loops, ...more };
  scheduler.start({ ...work.loops, timed }, LOOP_EVERY_MS);

  const { cloud } = opened.now();
  const learn = () => learnFromUsage({ ...decisions, cloud }).then(directory.refresh);
  const maintenance = startMaintenance(log, [
    ...workflowJobs(context),
    { name: 'learn', work: learn, everyMs: LEARN_EVERY_MS },
    ...trailJobs(context, trail, {
      channel: config.channels.audit,
      mayAnchor: () => channelCheck.problem() === null,
    }),
  ]);
  const stop = async () => {
    opened.stopReading();
    await listening.idle();
    await scheduler.stop();
    await work.drain();
    await maintenance.stop();
    await presence.stop();
    await opened.close();
    directory.close();
    await recordStop(context);
    await trail.writeCheckpoint();
  };
  const { instance, configuration } = context;
  const readinessWarning = async () => {
    const problem = await trail.problem(database.db);
    if (problem) return `executions are stopped: ${problem}`;
    if (await mayExecute(database.db, configuration)) return messenger.lookupProblem();
    return 'executions are stopped: another replica uses a newer configuration';
  };
  const attach = (deliveries: Deliveries) => {
    attached = deliveries;
    listening.attach(deliveries);
  };
  return { instance, configuration, readinessWarning, wake: scheduler.wakeAll, attach, stop };
}

function changeCommands(): ReadonlyMap<string, ChangeCommand> {
  const changes = commands.filter((command) => command.kind === 'change');
  return new Map(changes.map((one) => [one.name, one]));
}

/** Traces every transaction, including its wait for a connection. */
function tracedDatabase(database: Database): Database {
  const system = database.engine === 'sqlite' ? 'sqlite' : 'postgresql';
  const facts = { 'db.system.name': system };
  const work = { name: 'transaction', kind: 'client', facts } as const;
  return {
    ...database,
    transaction: (body) => step(work, () => database.transaction(body)),
    run: (statement) => step(work, () => database.run(statement)),
  };
}

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
