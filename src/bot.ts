import { randomBytes, randomUUID } from 'node:crypto';
import { createIncidents } from './anomalies/incident-service.ts';
import type { BotOptions } from './bot-options.ts';
import { changeIdFrom } from './changes/id.ts';
import { openCommandContext } from './command-context.ts';
import { commands } from './commands/index.ts';
import type { Span } from './costs/calendar/calendar.ts';
import type { ChangeCommand } from './intent/define.ts';
import { alsoTraced } from './observability/traced-measures.ts';
import { withTracedTransactions } from './observability/traced-transactions.ts';
import type { Slack } from './slack/connect.ts';
import type { Deliveries } from './slack/inbound/deliveries.ts';
import { trailChores } from './workflow/audit-trail/anchors.ts';
import { recordStart, recordStop } from './workflow/audit-trail/process-events.ts';
import { guardRestore } from './workflow/audit-trail/restored.ts';
import { createTrail } from './workflow/audit-trail/trail.ts';
import { startChores } from './workflow/background/chores.ts';
import { startLanes } from './workflow/background/lanes.ts';
import { startPresence } from './workflow/background/presence.ts';
import type { WorkflowContext } from './workflow/ports.ts';
import { createChangesQueries } from './workflow/queries/changes-queries.ts';

const LOOK_EVERY_MS = 1_000;

/** Everything that one configuration made: it works from its opening until it is stopped. */
export interface RunningBot {
  readonly butKnow: () => Promise<string | null>;
  readonly wake: () => void;
  /** From here on what Slack delivers is this one's to answer. */
  readonly take: (deliveries: Deliveries) => void;
  /** To be called when nothing is delivered to it any more; what is under way is finished. */
  readonly stop: () => Promise<void>;
}

/** Joins the rooms; nothing is taken from Slack until `take`. */
export async function openBot(given: BotOptions, slack: Slack): Promise<RunningBot> {
  const options = withTraces(given);
  const { config, log, now, database, auditKey, measures } = options;
  const instance = randomUUID();
  const newId = () => changeIdFrom(randomBytes(6));
  const { messenger, actors: people } = slack;
  const trail = createTrail({ database, auditKey, messenger, log, now });
  const parts = { messenger, auditKey, newId, instance, people, commands: changeCommands() };
  const opened = await openCommandContext(options, database, parts);
  const changes = createChangesQueries(() => context, slack.named);
  const late: { wake: () => void } = { wake: () => {} };
  const context: WorkflowContext = {
    ...parts,
    database,
    trail,
    policy: config.policy,
    commandContext: () => ({ ...opened.now(), changes }),
    log,
    now,
    wake: () => late.wake(),
    refreshDirectory: opened.refresh,
    incidents: createIncidents(() => context),
    measures,
  };
  await trail.lookAtEnd();
  await recordStart(context, { version: options.version, config: config.configHash });
  await guardRestore(context);
  await trail.mark();
  const lanes = startLanes(context, LOOK_EVERY_MS, opened.lanes);
  late.wake = lanes.wake;

  const costs = (span: Span) => opened.costs(span, { priority: 'digest' });
  const chores = startChores(context, costs, trailChores(context, trail, config.channels.audit));
  const presence = startPresence(context, options.version);
  const listening = await slack.listen(context);
  const stop = async () => {
    opened.stopReading();
    await listening.quiet();
    await lanes.stop();
    await chores.stop();
    await presence.stop();
    await opened.close();
    await recordStop(context);
    await trail.mark();
  };
  return {
    butKnow: async () => {
      const trouble = await trail.trouble(database.db);
      return trouble && `nothing is executed: ${trouble}`;
    },
    wake: lanes.wake,
    take: listening.take,
    stop,
  };
}

function withTraces(options: BotOptions): BotOptions {
  const { database, measures } = options;
  return {
    ...options,
    database: withTracedTransactions(database),
    measures: alsoTraced(measures),
  };
}

function changeCommands(): ReadonlyMap<string, ChangeCommand> {
  return new Map(
    commands.flatMap((command) => (command.kind === 'change' ? [[command.name, command]] : [])),
  );
}
