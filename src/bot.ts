import { randomBytes, randomUUID } from 'node:crypto';
import { createIncidentService } from './anomalies/incident-service.ts';
import type { BotOptions } from './bot-options.ts';
import { changeIdFrom } from './changes/id.ts';
import { openCommandContext } from './command-context.ts';
import { commands } from './commands/index.ts';
import { createCostEstimator } from './cost-effect/change-cost.ts';
import { postCostEffects } from './cost-effect/effect-notice.ts';
import { type ChangeCommand, namesOf } from './intent/define.ts';
import { withTracedTransactions } from './observability/traced-transactions.ts';
import type { Slack } from './slack/connect.ts';
import type { Deliveries } from './slack/inbound/deliveries.ts';
import { trailJobs } from './workflow/audit-trail/anchors.ts';
import { recordStart, recordStop } from './workflow/audit-trail/process-events.ts';
import { stopRestoredChanges } from './workflow/audit-trail/restored.ts';
import { createTrail } from './workflow/audit-trail/trail.ts';
import { startMaintenance, workflowJobs } from './workflow/background/maintenance.ts';
import { startPresence } from './workflow/background/presence.ts';
import { createScheduler } from './workflow/background/scheduler.ts';
import { workflowLoops } from './workflow/background/workflow-loops.ts';
import type { DecisionContext, WorkflowContext } from './workflow/ports.ts';
import { createChangesQueries } from './workflow/queries/changes-queries.ts';

const LOOP_EVERY_MS = 1_000;
const MEASURE_EVERY_MS = 3_600_000;

/** Everything that runs with one configuration, until it is stopped. */
export interface RunningBot {
  /** Returns a problem to show at the readiness probe although the process is ready, or null. */
  readonly readinessWarning: () => Promise<string | null>;
  readonly wake: () => void;
  /** Answers what Slack delivers from now on. */
  readonly attach: (deliveries: Deliveries) => void;
  /** Finishes the work in progress. To be called when nothing is delivered to this bot any more. */
  readonly stop: () => Promise<void>;
}

/** Wires the rooms and starts the background work. Deliveries are not answered before `attach`. */
export async function openBot(given: BotOptions, slack: Slack): Promise<RunningBot> {
  const options = { ...given, database: withTracedTransactions(given.database) };
  const { config, log, now, database, auditKey, measures } = options;
  const { messenger, actors: people } = slack;
  const scheduler = createScheduler(log);
  const trail = createTrail({ database, auditKey, messenger, log, now });
  const decisions: DecisionContext = {
    database,
    auditKey,
    trail,
    policy: config.policy,
    commands: changeCommands(),
    people,
    messenger,
    log,
    now,
    newId: () => changeIdFrom(randomBytes(6)),
    instance: randomUUID(),
    wake: scheduler.wake,
    measures,
  };
  const opened = await openCommandContext(options, decisions);
  const changes = createChangesQueries(decisions, slack.findPerson);
  const commandContext = () => ({ ...opened.now(), changes });
  const context: WorkflowContext = {
    ...decisions,
    commandContext,
    refreshDirectory: opened.refresh,
    incidents: createIncidentService(decisions),
    estimateCost: createCostEstimator({ ...decisions, commandContext }),
  };
  await trail.verifyRecent();
  await recordStart(context, { version: options.version, config: config.configHash });
  await stopRestoredChanges(context);
  await trail.writeCheckpoint();
  const work = workflowLoops(context);
  scheduler.start({ ...work.loops, ...opened.loops }, LOOP_EVERY_MS);

  const measure = () => postCostEffects(context, opened.digestCosts);
  const maintenance = startMaintenance(log, [
    ...workflowJobs(context),
    ...trailJobs(context, trail, config.channels.audit),
    { name: 'measure cost effects', work: measure, everyMs: MEASURE_EVERY_MS },
  ]);
  const presence = startPresence(context, options.version);
  const listening = await slack.listen(context);
  const stop = async () => {
    opened.stopReading();
    await listening.idle();
    await scheduler.stop();
    await work.drain();
    await maintenance.stop();
    await presence.stop();
    await opened.close();
    await recordStop(context);
    await trail.writeCheckpoint();
  };
  const readinessWarning = async () => {
    const problem = await trail.problem(database.db);
    return problem && `executions are stopped: ${problem}`;
  };
  return { readinessWarning, wake: scheduler.wake, attach: listening.attach, stop };
}

/** By every name: stored changes of an earlier release have the earlier name of their command. */
function changeCommands(): ReadonlyMap<string, ChangeCommand> {
  const changes = commands.filter((command) => command.kind === 'change');
  return new Map(changes.flatMap((one) => namesOf(one).map((name) => [name, one] as const)));
}
