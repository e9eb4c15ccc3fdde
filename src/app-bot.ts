// One bot: everything that runs with one configuration, wired from the rooms.
import { randomBytes, randomUUID } from 'node:crypto';
import { openCommandContext } from './app-clients.ts';
import type { BotOptions } from './app-start.ts';
import { createOutageLog } from './base/log.ts';
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
import type { EventOf } from './domain/log-events.ts';
import {
  activateConfiguration,
  activeConfiguration,
  append,
  appendProblem,
  listChanges,
  placeKeys,
} from './log/index.ts';
import { createDiscovery, openDirectory } from './servers/directory.ts';
import type { Deliveries, Slack } from './slack/index.ts';
import {
  authorizeQuery,
  checkChannels,
  createChangesQueries,
  createJobLoop,
  type DecisionContext,
  directRecipients,
  type JobLoop,
  jobKinds,
  mendLog,
  startMaintenance,
  startPresence,
  takeOver,
  timeline,
  upkeepJobs,
  type WorkflowContext,
} from './workflow/index.ts';

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
export async function openBot(options: BotOptions, slack: Slack): Promise<RunningBot> {
  const { config, log, now, store, events, measures, messenger } = options;
  const { actors: people } = slack;
  const directory = await openDirectory(options);
  // The loop needs the context, which wakes it.
  let wakeJobs = () => {};
  const { notify } = config;
  const decisions: DecisionContext = {
    store,
    events,
    organization: config.organization.id,
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
    wake: () => wakeJobs(),
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
  const { version } = options;
  const { instance } = context;
  await record(context, { type: 'started', release: version, instance });
  if (options.takesOver) {
    const executing = await listChanges(events, { states: ['executing'], limit: MANY });
    await takeOver(
      context,
      executing.map(({ id }) => id),
    );
  }
  const kinds = { ...jobKinds(context, { follows: config.reads === 'extended' }), ...opened.kinds };
  const jobs = createJobLoop({ ...context, onError: (error) => mendLog(context, error) }, kinds);
  wakeJobs = jobs.wake;
  const listening = await slack.listen(context, placeKeys(events.keys));
  // The last step that can fail: from here on, only this configuration executes changes.
  await activateConfiguration(events, { configuration: config.configHash, release: version });
  const presence = await startPresence(context, { release: version });
  const guard = startWitness(context, jobs);

  const { cloud } = opened.now();
  const learn = () => learnFromUsage({ ...decisions, cloud }).then(directory.refresh);
  const maintenance = startMaintenance(log, [
    ...upkeepJobs(context),
    ...opened.upkeep,
    { name: 'learn', work: learn, everyMs: LEARN_EVERY_MS },
    { name: 'discover services', work: discovery.pass, everyMs: LOOP_EVERY_MS },
  ]);
  const stop = async () => {
    opened.stopReading();
    await listening.idle();
    await guard.stop();
    await jobs.stop();
    await maintenance.stop();
    await presence.stop();
    await opened.close();
    directory.close();
    // A log that is damaged, or a database that is away, must not prevent the stop.
    await record(context, { type: 'stopped', instance }).catch((err: unknown) => {
      log.warn({ err }, 'the stop could not be recorded');
    });
  };
  const { configuration } = context;
  const readinessWarning = async () => {
    const problem = appendProblem(events);
    if (problem) return `executions are stopped: ${problem.message}`;
    if (!guard.isChecked()) return 'executions wait until the channels were read';
    const active = await activeConfiguration(events);
    if (active?.configuration === configuration) return messenger.lookupProblem();
    return 'executions are stopped: another replica uses a newer configuration';
  };
  const attach = (deliveries: Deliveries) => {
    attached = deliveries;
    listening.attach(deliveries);
  };
  const wake = () => {
    guard.wake();
    jobs.wake();
    maintenance.wake();
  };
  return { instance, configuration, readinessWarning, wake, attach, stop };
}

const MANY = 1_000;

/** Records under which release and process all later events happen. */
async function record(
  { events }: Pick<WorkflowContext, 'events'>,
  event: Extract<EventOf<'installation/processes'>, { type: 'started' | 'stopped' }>,
): Promise<void> {
  const stream = 'installation/processes';
  await append(events, async () => ({ events: [{ stream, event }], result: null }));
}

const TIMELINE_EVERY_MS = 5_000;

/**
 * No job runs before the channels were read: Signalbox would draw its own older state over what people saw. The same
 * after the promotion of a standby, which may have lost the last commits.
 */
function startWitness(context: WorkflowContext, jobs: JobLoop) {
  let isChecked = false;
  let isStopped = false;
  let known: number | null = null;
  const check = async (): Promise<void> => {
    known = await timeline(context);
    await checkChannels(context);
    if (isStopped) return;
    isChecked = true;
    jobs.start(LOOP_EVERY_MS);
  };
  const outage = createOutageLog(context.log, UNREAD);
  const pass = async (): Promise<void> => {
    try {
      const current = await timeline(context);
      if (isChecked && current !== known) {
        isChecked = false;
        await jobs.stop();
      }
      if (!isChecked && !isStopped) await check();
      outage.ended();
    } catch (err) {
      outage.failed(String(err), { err });
    }
  };
  let last = pass();
  const again = () => {
    last = last.then(pass);
  };
  const timer = setInterval(again, TIMELINE_EVERY_MS);
  return {
    wake: () => {
      if (!isChecked) again();
    },
    isChecked: () => isChecked,
    stop: async () => {
      isStopped = true;
      clearInterval(timer);
      await last;
    },
  };
}

const UNREAD = {
  began:
    'the channels could not be read, so that nothing is drawn or executed; they are read again',
  ended: 'the channels were read',
};
