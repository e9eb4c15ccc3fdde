import { once } from 'node:events';
import type { Server } from 'node:http';
import { setTimeout as wait } from 'node:timers/promises';
import { openBot } from './bot.ts';
import type { AppOptions } from './bot-options.ts';
import type { RoleName, UserId } from './changes/change.ts';
import { commands } from './commands/index.ts';
import type { Config, ConfigProblem } from './config/load-config.ts';
import { fixedUntilRestart } from './config/restart-only.ts';
import { postJson } from './http/client.ts';
import { createMetrics, type Metrics } from './observability/metrics.ts';
import type { Measures } from './observability/metrics-port.ts';
import { withTracedMeasures } from './observability/traced-measures.ts';
import type { Policy } from './policy/policy-types.ts';
import { impossibleRequirements, membersNeeded } from './policy/satisfiable.ts';
import { createOpsServer } from './server.ts';
import { connect, type Slack } from './slack/connect.ts';
import { keyProblem } from './storage/audit/append.ts';
import { followClock, type SharedClock } from './storage/engine/clock.ts';
import { type Database, openDatabase } from './storage/engine/database.ts';
import { databaseProblem } from './storage/engine/database-errors.ts';
import { readGauges } from './storage/tables/queues/gauges.ts';

export type Started =
  | {
      readonly ok: true;
      readonly port: number;
      readonly wake: () => void;
      /** Replaces the configuration. Where it has problems, the current one stays in use. */
      readonly reload: (config: Config) => Promise<Reloaded>;
      readonly stop: () => Promise<void>;
    }
  | {
      readonly ok: false;
      readonly problems: readonly ConfigProblem[];
      /** A restart cannot help: a person must fix the problems first. */
      readonly lasting: boolean;
    };

export type Reloaded =
  | { readonly ok: true }
  | { readonly ok: false; readonly problems: readonly ConfigProblem[] };

/** Opens Slack and the database, starts the bot, and listens last, when everything is ready. */
export async function startApp(options: AppOptions): Promise<Started> {
  const { config, version, log, now = () => new Date() } = options;
  const metrics = createMetrics({ version });
  const measures = withTracedMeasures(metrics.measures);
  const connected = await connectSlack(options, { now, measures });
  if (!connected.ok) return connected;

  const onConnectionError = (error: Error) => log.warn({ err: error }, 'database connection lost');
  try {
    const database = await openDatabase(config.databaseUrl.reveal(), { now, onConnectionError });
    const opened = { slack: connected.slack, database, metrics, measures };
    return await serveOrClose(options, opened);
  } catch (error) {
    const problem = databaseProblem(error);
    if (problem === null) throw error;
    log.debug({ err: error }, 'database cannot be used');
    const problems = [{ where: 'DATABASE_URL', problem, hint: null }];
    return { ok: false, problems, lasting: false };
  }
}

interface Opened {
  readonly slack: Slack;
  readonly database: Database;
  readonly metrics: Metrics;
  readonly measures: Measures;
}

async function serveOrClose(options: AppOptions, opened: Opened): Promise<Started> {
  const { database } = opened;
  try {
    return await serve(options, opened, await openClock(options, database));
  } catch (error) {
    await database.close();
    throw error;
  }
}

type ProcessClock = Pick<SharedClock, 'now' | 'stop'>;

const CLOCK_SKEW_MS = 5_000;

/** Returns the database's clock, on which all replicas agree. A given `now` takes its place. */
async function openClock({ now, log }: AppOptions, database: Database): Promise<ProcessClock> {
  if (now) return { now, stop: () => undefined };
  const clock = await followClock(database, (error) =>
    log.warn({ err: error }, 'database clock could not be read'),
  );
  const behindMs = Math.round(clock.behindMs());
  if (Math.abs(behindMs) > CLOCK_SKEW_MS) {
    log.warn({ behindMs }, 'the clocks of this machine and the database differ');
  }
  return clock;
}

async function serve(
  options: AppOptions,
  { slack, database, metrics, measures }: Opened,
  clock: ProcessClock,
): Promise<Started> {
  const { config } = options;
  const auditKey = config.key ? Buffer.from(config.key.reveal(), 'base64') : null;
  const problem = await keyProblem(database.db, auditKey);
  if (problem) {
    clock.stop();
    await database.close();
    return { ok: false, problems: [KEY_PROBLEMS[problem]], lasting: true };
  }
  const { now } = clock;
  const openWith = (own: AppOptions, connected: Slack) =>
    openBot({ ...own, now, database, auditKey, measures }, connected);

  let bot = await openWith(options, slack);
  const deliveries = slack.deliveries();
  const notReady = async () => {
    if (!deliveries.isOpen()) return 'Slack is not connected.';
    return database.check().then(
      () => null,
      (error: unknown) => databaseProblem(error) ?? 'The database does not respond.',
    );
  };
  const server = createOpsServer(deliveries.listener, {
    notReady,
    readinessWarning: () => bot.readinessWarning(),
    isLeaving: () => !deliveries.isOpen(),
    metrics: {
      contentType: metrics.contentType,
      text: () => metrics.text(() => readGauges(database.db, now()), now()),
    },
  });
  const port = await listenOn(server, config.port);
  bot.attach(deliveries);
  await deliveries.open();

  /** Both bots use the same deliveries, so that no click is lost between them. */
  const reload = async (next: Config): Promise<Reloaded> => {
    const fixed = fixedUntilRestart(config, next);
    if (fixed.length > 0) return { ok: false, problems: fixed };
    const own = { ...options, config: next };
    const connected = await connectSlack(own, { now, measures });
    if (!connected.ok) return connected;
    const previous = bot;
    bot = await openWith(own, connected.slack);
    bot.attach(deliveries);
    await previous.stop();
    return { ok: true };
  };
  const stop = async () => {
    await deliveries.close();
    await wait(options.leaveWithinMs ?? 0);
    server.close();
    await bot.stop();
    server.closeAllConnections();
    clock.stop();
    await database.close();
  };
  return { ok: true, port, wake: () => bot.wake(), reload: oneAtATime(reload), stop };
}

function oneAtATime<In, Out>(work: (input: In) => Promise<Out>): (input: In) => Promise<Out> {
  let last: Promise<unknown> = Promise.resolve();
  return (input) => {
    const next = last.then(() => work(input));
    last = next.catch(() => undefined);
    return next;
  };
}

const KEY_PROBLEMS: Readonly<Record<'key-missing' | 'key-differs', ConfigProblem>> = {
  'key-missing': {
    where: 'SIGNALBOX_KEY',
    problem: 'is not set, but the audit trail of this database is keyed',
    hint: 'set the key that was used before; without it the trail would break permanently',
  },
  'key-differs': {
    where: 'SIGNALBOX_KEY',
    problem: 'is not the key of the audit trail in this database',
    hint: 'set the key that was used before, or use another database',
  },
};

async function listenOn(server: Server, port: number): Promise<number> {
  server.listen(port);
  await once(server, 'listening');
  const address = server.address();
  return typeof address === 'object' && address ? address.port : port;
}

type ConnectedSlack =
  | { readonly ok: true; readonly slack: Slack }
  | Extract<Started, { ok: false }>;

async function connectSlack(
  { config, log }: AppOptions,
  { now, measures }: { readonly now: () => Date; readonly measures: Measures },
): Promise<ConnectedSlack> {
  const { policy, channels } = config;
  const own = { post: postJson, commands, log, now, measures };
  const connected = await connect({ ...config.slack, policy, channels, ...own });
  if (!connected.ok) {
    const problems = connected.problems.map(slackProblem);
    return { ok: false, problems, lasting: true };
  }
  return (await peopleProblems(connected.slack, policy)) ?? connected;
}

function slackProblem(problem: string): ConfigProblem {
  return { where: 'Slack', problem, hint: null };
}

/** Refuses the start where a rule has no user who satisfies it, before an emergency shows it. */
async function peopleProblems(
  slack: Slack,
  policy: Policy,
): Promise<Extract<Started, { ok: false }> | null> {
  const members = new Map<RoleName, ReadonlySet<UserId>>();
  const problems: ConfigProblem[] = [];
  for (const role of policy.roles.keys()) {
    const people = await slack.actors.someOf(role, membersNeeded(policy));
    if (people === null) problems.push(slackProblem(`did not list the members of role ${role}`));
    members.set(role, new Set(people ?? []));
  }
  // The lookup may succeed at the next start.
  if (problems.length > 0) return { ok: false, problems, lasting: false };
  const unmet = impossibleRequirements(policy, members);
  return unmet.length > 0 ? { ok: false, problems: unmet, lasting: true } : null;
}
