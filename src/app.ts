import { once } from 'node:events';
import type { Server } from 'node:http';
import { setTimeout as wait } from 'node:timers/promises';
import { openBot } from './bot.ts';
import type { AppOptions } from './bot-options.ts';
import type { RoleName, UserId } from './changes/change.ts';
import { commands } from './commands/index.ts';
import type { Config, ConfigProblem } from './config/load-config.ts';
import { fixedUntilRestart } from './config/restart-only.ts';
import { postJson } from './http/post.ts';
import { createMetrics } from './observability/metrics.ts';
import type { Policy } from './policy/policy-types.ts';
import { enoughOf, unsatisfiable } from './policy/satisfiable.ts';
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
      /** Works by another configuration from now on; by the old one where that is refused. */
      readonly reload: (config: Config) => Promise<Reloaded>;
      readonly stop: () => Promise<void>;
    }
  | {
      readonly ok: false;
      readonly problems: readonly ConfigProblem[];
      /** Somebody has to change something: to start it again as it is would be in vain. */
      readonly lasting: boolean;
    };

export type Reloaded =
  | { readonly ok: true }
  | { readonly ok: false; readonly problems: readonly ConfigProblem[] };

/** Joins the rooms and opens the door last: whoever is let in finds everything in its place. */
export async function startApp(options: AppOptions): Promise<Started> {
  const { config, log, now = () => new Date() } = options;
  const connected = await connectSlack(options, now);
  if (!connected.ok) return connected;

  const onConnectionError = (error: Error) =>
    log.warn({ err: error }, 'a database connection was lost');
  try {
    const database = await openDatabase(config.databaseUrl.reveal(), { now, onConnectionError });
    return await serveOrClose(options, database, connected.slack);
  } catch (error) {
    const problem = databaseProblem(error);
    if (problem === null) throw error;
    log.debug({ err: error }, 'the database cannot be used');
    const problems = [{ where: 'DATABASE_URL', problem, hint: null }];
    return { ok: false, problems, lasting: false };
  }
}

async function serveOrClose(
  options: AppOptions,
  database: Database,
  slack: Slack,
): Promise<Started> {
  try {
    return await serve(options, database, slack, await clockOf(options, database));
  } catch (error) {
    await database.close();
    throw error;
  }
}

type OwnClock = Pick<SharedClock, 'now' | 'stop'>;

const SKEW_MS = 5_000;

/** The database's, so that replicas agree; one that was handed in holds as it is. */
async function clockOf({ now, log }: AppOptions, database: Database): Promise<OwnClock> {
  if (now) return { now, stop: () => undefined };
  const clock = await followClock(database, (error) =>
    log.warn({ err: error }, 'the clock of the database was not read'),
  );
  const behindMs = Math.round(clock.behindMs());
  if (Math.abs(behindMs) > SKEW_MS) {
    log.warn({ behindMs }, 'the clock of this machine is not that of the database');
  }
  return clock;
}

async function serve(
  options: AppOptions,
  database: Database,
  slack: Slack,
  clock: OwnClock,
): Promise<Started> {
  const { config, version } = options;
  const auditKey = config.key ? Buffer.from(config.key.reveal(), 'base64') : null;
  const problem = await keyProblem(database.db, auditKey);
  if (problem) {
    clock.stop();
    await database.close();
    return { ok: false, problems: [KEY_PROBLEMS[problem]], lasting: true };
  }
  const { now } = clock;
  const metrics = createMetrics({ version, now, levels: () => readGauges(database.db, now()) });
  const { measures } = metrics;
  const make = (own: AppOptions, of: Slack) =>
    openBot({ ...own, now, database, auditKey, measures }, of);

  let bot = await make(options, slack);
  const deliveries = slack.deliveries();
  const notReady = async () => {
    if (!deliveries.isOpen()) return 'Slack is not connected.';
    return database.check().then(
      () => null,
      (error: unknown) => databaseProblem(error) ?? 'The database does not answer.',
    );
  };
  const butKnow = () => bot.butKnow();
  const isLeaving = () => !deliveries.isOpen();
  const door = createOpsServer(deliveries.listener, { notReady, butKnow, metrics, isLeaving });
  const port = await listenOn(door, config.port);
  bot.take(deliveries);
  await deliveries.open();

  /** Both have the same way in, which is handed over: no click falls between the two. */
  const reload = async (next: Config): Promise<Reloaded> => {
    const fixed = fixedUntilRestart(config, next);
    if (fixed.length > 0) return { ok: false, problems: fixed };
    const own = { ...options, config: next };
    const connected = await connectSlack(own, now);
    if (!connected.ok) return connected;
    const opened = await make(own, connected.slack);
    const before = bot;
    opened.take(deliveries);
    bot = opened;
    await before.stop();
    return { ok: true };
  };
  const stop = async () => {
    await deliveries.close();
    await wait(options.leaveWithinMs ?? 0);
    door.close();
    await bot.stop();
    door.closeAllConnections();
    clock.stop();
    await database.close();
  };
  return { ok: true, port, wake: () => bot.wake(), reload: oneAtATime(reload), stop };
}

function oneAtATime<In, Out>(work: (given: In) => Promise<Out>): (given: In) => Promise<Out> {
  let last: Promise<unknown> = Promise.resolve();
  return (given) => {
    const next = last.then(() => work(given));
    last = next.catch(() => undefined);
    return next;
  };
}

const KEY_PROBLEMS: Readonly<Record<'key-missing' | 'key-differs', ConfigProblem>> = {
  'key-missing': {
    where: 'SIGNALBOX_KEY',
    problem: 'is not set, and the audit trail of this database is written with a key',
    hint: 'set the one it ran with; without it the trail would break for good',
  },
  'key-differs': {
    where: 'SIGNALBOX_KEY',
    problem: 'is not the one that the audit trail of this database is written with',
    hint: 'set the one it ran with, or name another database',
  },
};

async function listenOn(door: Server, port: number): Promise<number> {
  door.listen(port);
  await once(door, 'listening');
  const address = door.address();
  return typeof address === 'object' && address ? address.port : port;
}

type ConnectedSlack =
  | { readonly ok: true; readonly slack: Slack }
  | Extract<Started, { ok: false }>;

async function connectSlack(options: AppOptions, now: () => Date): Promise<ConnectedSlack> {
  const { config, log } = options;
  const { policy, channels } = config;
  const own = { post: postJson, commands, log, now };
  const connected = await connect({ ...config.slack, policy, channels, ...own });
  if (!connected.ok) {
    const problems = connected.problems.map(inSlack);
    return { ok: false, problems, lasting: true };
  }
  return (await peopleProblems(connected.slack, policy)) ?? connected;
}

function inSlack(problem: string): ConfigProblem {
  return { where: 'Slack', problem, hint: null };
}

/** A rule that nobody can satisfy is a mistake that should not wait for an emergency to show. */
async function peopleProblems(
  slack: Slack,
  policy: Policy,
): Promise<Extract<Started, { ok: false }> | null> {
  const members = new Map<RoleName, ReadonlySet<UserId>>();
  const problems: ConfigProblem[] = [];
  for (const role of policy.roles.keys()) {
    const people = await slack.actors.someOf(role, enoughOf(policy));
    if (people === null) problems.push(inSlack(`did not tell who is in the role ${role}`));
    members.set(role, new Set(people ?? []));
  }
  // Slack may tell in a moment.
  if (problems.length > 0) return { ok: false, problems, lasting: false };
  const unmet = unsatisfiable(policy, members);
  return unmet.length > 0 ? { ok: false, problems: unmet, lasting: true } : null;
}
