// One bot: everything that runs with one configuration, wired from the rooms.
import { randomBytes, randomUUID } from 'node:crypto';
import { openCommandContext } from './app-clients.ts';
import type { BotOptions } from './app-start.ts';
import { step } from './base/log.ts';
import { HOUR_MS } from './base/time.ts';
import { type ChangeCommand, commands } from './commands/index.ts';
import {
  createCostEstimator,
  createEffectMeasurement,
  createIncidentService,
  homeCosts,
  learnFromUsage,
} from './costs/index.ts';
import { changeIdFrom } from './domain/change.ts';
import { mayExecute } from './log/old/configurations.ts';
import { createDiscovery, openDirectory } from './servers/directory.ts';
import type { Deliveries, Slack } from './slack/index.ts';
import type { Database } from './storage/old/database.ts';
import { trailJobs } from './workflow/old/anchors.ts';
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

/** Everything that runs with one configuration, until it is stopped. */
export interface RunningBot {
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

const LOOP_EVERY_MS = 1_000;
const LEARN_EVERY_MS = 6 * HOUR_MS;

const CHANGE_COMMANDS: ReadonlyMap<string, ChangeCommand> = new Map(
  commands.flatMap((one) => (one.kind === 'change' ? [[one.name, one]] : [])),
);

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
  const { notify } = config;
  const decisions: DecisionContext = {
    database,
    auditKey,
    trail,
    policy: config.policy,
    configuration: config.configHash,
    prices: config.prices,
    services: directory.services,
    discoversServices: config.reads === 'extended',
    commands: CHANGE_COMMANDS,
    people,
    messenger,
    directCards: directRecipients({ notify, someOf: people.someOf, messenger, now }),
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
      ...{ costs: opened.storedCosts, floor: config.costFloor },
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
