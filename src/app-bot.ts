// One bot: everything that runs with one configuration, wired from the rooms.
import { randomBytes, randomUUID } from 'node:crypto';
import type { AgentDoorOptions } from './agents/index.ts';
import { openCommandContext } from './app-clients.ts';
import type { BotOptions } from './app-start.ts';
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
import {
  activateConfiguration,
  activeConfiguration,
  appendProblem,
  placeKeys,
} from './log/index.ts';
import type { AlertIntake } from './ops/index.ts';
import { createDiscovery, openDirectory } from './servers/directory.ts';
import type { Deliveries, Slack } from './slack/index.ts';
import {
  authorizeQuery,
  createChangesQueries,
  type DecisionContext,
  directRecipients,
  openBackground,
  type WorkflowContext,
} from './workflow/index.ts';

/** Everything that runs with one configuration, until it is stopped. */
export type RunningBot = Awaited<ReturnType<typeof openBot>>;

type AgentPort = Pick<AgentDoorOptions, 'config' | 'context' | 'linkOf' | 'isForeignTeam' | 'keys'>;

const LOOP_EVERY_MS = 1_000;
const LEARN_EVERY_MS = 6 * HOUR_MS;

const CHANGE_COMMANDS: ReadonlyMap<string, ChangeCommand> = new Map(
  commands.flatMap((one) => (one.kind === 'change' ? [[one.name, one]] : [])),
);

/** Wires the rooms and starts the background work. Deliveries are not answered before `attach`. */
export async function openBot(options: BotOptions, slack: Slack) {
  const { config, log, now, store, events, measures, messenger } = options;
  const { actors: people } = slack;
  const directory = await openDirectory(options);
  // The loop needs the context, which wakes it.
  let wakeJobs = () => {};
  const decisions: DecisionContext = {
    store,
    events,
    organization: config.organizations[0].id,
    organizations: config.organizations.map(({ id }) => id),
    policy: config.policy,
    configuration: config.configHash,
    prices: config.prices,
    services: directory.services,
    discoversServices: config.reads === 'extended',
    commands: CHANGE_COMMANDS,
    people,
    messenger,
    directCards: directRecipients({ notify: config.notify, someOf: people.someOf, messenger, now }),
    reminders: config.reminders,
    log,
    now,
    newId: () => changeIdFrom(randomBytes(6)),
    instance: randomUUID(),
    wake: () => wakeJobs(),
    measures,
  };
  let attached: Deliveries | null = null;
  const isConnected = () => attached?.isOpen() ?? false;
  const opened = openCommandContext(options, decisions, directory);
  const { cloud } = opened.now();
  const discovery = createDiscovery({
    organizations: cloud.organizations.map(({ id, client }) => ({ id, reads: client.reads })),
    ...{ directory, now },
    ...{ isOn: decisions.discoversServices, isReady: isConnected },
  });
  const measure = createEffectMeasurement({ ...decisions, costs: opened.storedCosts });
  const changes = createChangesQueries(decisions, slack.findPerson, measure);
  const commandContext = (organization?: string) => ({ ...opened.now(organization), changes });
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
  const background = await openBackground(context, {
    release: version,
    takesOver: options.takesOver,
    alertChannels: config.alertChannels,
    isConnected,
    audit: config.channels.audit ?? config.channels.approvals,
    kinds: opened.kinds,
  });
  wakeJobs = background.wakeJobs;
  const listening = slack.listen(context, placeKeys(events.keys));
  // The last step that can fail: from here on, only this configuration executes changes.
  await activateConfiguration(events, { configuration: config.configHash, release: version });
  await options.replaces?.pause();
  const learn = async () => {
    const learned = await Promise.allSettled(
      cloud.organizations.map(({ id, client }) =>
        learnFromUsage({ ...decisions, cloud: client, organizationId: id }),
      ),
    );
    directory.refresh();
    const failed = learned.find(({ status }) => status === 'rejected');
    if (failed?.status === 'rejected') throw failed.reason;
  };
  await background.start([
    ...opened.upkeep,
    { name: 'learn', work: learn, everyMs: LEARN_EVERY_MS },
    { name: 'check the token', work: listening.probe, everyMs: LOOP_EVERY_MS },
    { name: 'discover services', work: discovery.pass, everyMs: LOOP_EVERY_MS },
  ]);
  const { configuration } = context;
  const readinessWarning = async (): Promise<string | null> => {
    const problem = appendProblem(events);
    if (problem) return `executions are stopped: ${problem.message}`;
    if (!background.isChecked()) return 'executions wait until the channels were read';
    const active = await activeConfiguration(events);
    if (active?.configuration === configuration) return messenger.lookupProblem();
    return 'executions are stopped: another replica uses a newer configuration';
  };
  const { wake, pause, receiveAlert: receive } = background;
  const { linkOf, isForeignTeam } = slack;
  const agents: AgentPort | null = config.agents && {
    ...{ config: config.agents, linkOf, isForeignTeam, keys: placeKeys(events.keys) },
    context: () => context,
  };
  const alerts: AlertIntake = { secret: config.alertsSecret, receive };
  return {
    /** The hash of its configuration file. */
    configuration,
    /** Returns a problem to show at the readiness probe although the process is ready, or null. */
    readinessWarning,
    /** Why the app may not act in Slack any more, in words; null while it may. */
    slackProblem: listening.problem,
    wake,
    /** Takes the reports of the alert service. */
    alerts,
    /** What agents reach of this configuration; null: none is configured. */
    agents,
    /** Answers what Slack delivers from now on. */
    attach: (deliveries: Deliveries) => {
      attached = deliveries;
      listening.attach(deliveries);
    },
    /** Begins no work any more. To be called by the bot that replaces it. */
    pause,
    /** Finishes the work in progress. To be called when nothing is delivered to this bot any more. */
    stop: async () => {
      opened.stopReading();
      await listening.idle();
      await background.stop(async () => {
        await opened.close();
        directory.close();
      });
    },
  };
}
