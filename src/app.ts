import { randomBytes, randomUUID } from 'node:crypto';
import { once } from 'node:events';
import type { Server } from 'node:http';
import type { Logger } from 'pino';
import type { RoleName, UserId } from './changes/change.ts';
import { changeIdFrom } from './changes/id.ts';
import { commands } from './commands/index.ts';
import type { Config, Problem } from './config.ts';
import type { Span } from './costs/calendar.ts';
import { createIncidents } from './digest/incident-press.ts';
import type { Clock } from './http/clock.ts';
import type { ChangeCommand } from './intent/define.ts';
import type { Policy } from './policy/policy.ts';
import { unsatisfiable } from './policy/satisfiable.ts';
import { openReach } from './reach.ts';
import { createDoor } from './server.ts';
import { connect, type Slack } from './slack/start.ts';
import { keyProblem } from './storage/audit.ts';
import { followClock, type SharedClock } from './storage/clock.ts';
import { type Database, openDatabase } from './storage/database.ts';
import { databaseTrouble } from './storage/trouble.ts';
import { trailChores } from './workflow/anchors.ts';
import { createChangesDesk } from './workflow/changes-desk.ts';
import { startChores } from './workflow/chores.ts';
import { startLanes } from './workflow/lanes.ts';
import { recordStart, recordStop } from './workflow/life.ts';
import { startPresence } from './workflow/presence.ts';
import { guardRestore } from './workflow/restored.ts';
import { createTrail } from './workflow/trail.ts';
import type { World } from './workflow/world.ts';

const LOOK_EVERY_MS = 1_000;

export interface AppOptions {
  readonly config: Config;
  readonly version: string;
  readonly log: Logger;
  readonly now?: () => Date;
  /** The clock of the API clients, where it is not the machine's. */
  readonly clock?: Clock;
}

export type Started =
  | {
      readonly ok: true;
      readonly port: number;
      readonly wake: () => void;
      readonly stop: () => Promise<void>;
    }
  | { readonly ok: false; readonly problems: readonly Problem[] };

/** Joins the rooms and opens the door last: whoever is let in finds everything in its place. */
export async function startApp(options: AppOptions): Promise<Started> {
  const { config, log, now = () => new Date() } = options;
  const connected = await connectSlack(options, now);
  if (!connected.ok) return connected;

  const onConnectionError = (error: Error) =>
    log.warn({ err: error }, 'a database connection was lost');
  const database = await openDatabase(config.databaseUrl.reveal(), { now, onConnectionError });
  try {
    const clock = await clockOf(options, database);
    return await open({ ...options, now: clock.now }, database, connected.slack, clock);
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

async function open(
  options: AppOptions,
  database: Database,
  slack: Slack,
  { now, stop: stopClock }: OwnClock,
): Promise<Started> {
  const { config, log } = options;
  const instance = randomUUID();
  const auditKey = config.key ? Buffer.from(config.key.reveal(), 'base64') : null;
  const problem = await keyProblem(database.db, auditKey);
  if (problem) {
    await database.close();
    return { ok: false, problems: [KEY_PROBLEMS[problem]] };
  }
  const newId = () => changeIdFrom(randomBytes(6));
  const { messenger } = slack;
  const trail = createTrail({ database, auditKey, messenger, log, now });
  const digests = {
    messenger,
    auditKey,
    newId,
    instance,
    people: slack.actors,
    commands: changeCommands(),
  };
  const reach = await openReach(options, database, digests);
  const changes = createChangesDesk(() => world, slack.named);
  const late: { wake: () => void } = { wake: () => {} };
  const world: World = {
    database,
    auditKey,
    trail,
    policy: config.policy,
    commands: changeCommands(),
    reach: () => ({ ...reach.now(), changes }),
    people: slack.actors,
    messenger,
    log,
    now,
    newId,
    instance,
    wake: () => late.wake(),
    learned: reach.refresh,
    incidents: createIncidents(() => world),
  };
  await trail.lookAtEnd();
  await recordStart(world, { version: options.version, config: config.configHash });
  await guardRestore(world);
  await trail.mark();
  const lanes = startLanes(world, LOOK_EVERY_MS, reach.lanes);
  late.wake = lanes.wake;

  const costs = (span: Span) => reach.costs(span, { priority: 'digest' });
  const chores = startChores(world, costs, trailChores(world, trail, config.channels.audit));
  const presence = startPresence(world, options.version);
  const listening = await slack.listen(world);
  const notReady = async () => {
    if (!listening.isOpen()) return 'Slack is not connected.';
    return database.check().then(
      () => null,
      (error: unknown) => databaseTrouble(error) ?? 'The database does not answer.',
    );
  };
  const butKnow = () => (trail.trouble() ? `nothing is executed: ${trail.trouble()}` : null);
  const door = createDoor(listening.listener, { notReady, butKnow });
  const port = await listenOn(door, config.port);
  await listening.open();

  const stop = async () => {
    await listening.close();
    door.close();
    reach.stopReading();
    await listening.quiet();
    await lanes.stop();
    await chores.stop();
    await presence.stop();
    await reach.close();
    door.closeAllConnections();
    await recordStop(world);
    await trail.mark();
    stopClock();
    await database.close();
  };
  return { ok: true, port, wake: lanes.wake, stop };
}

const KEY_PROBLEMS: Readonly<Record<'key-missing' | 'key-differs', Problem>> = {
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

function changeCommands(): ReadonlyMap<string, ChangeCommand> {
  return new Map(
    commands.flatMap((command) => (command.kind === 'change' ? [[command.name, command]] : [])),
  );
}

type ConnectedSlack =
  | { readonly ok: true; readonly slack: Slack }
  | { readonly ok: false; readonly problems: readonly Problem[] };

async function connectSlack(options: AppOptions, now: () => Date): Promise<ConnectedSlack> {
  const { config, log } = options;
  const { policy, channels } = config;
  const connected = await connect({ ...config.slack, policy, channels, commands, log, now });
  if (!connected.ok) {
    const problems = connected.problems.map(inSlack);
    return { ok: false, problems };
  }
  const problems = await peopleProblems(connected.slack, policy);
  return problems.length > 0 ? { ok: false, problems } : connected;
}

function inSlack(problem: string): Problem {
  return { where: 'Slack', problem, hint: null };
}

/** A rule that nobody can satisfy is a mistake that should not wait for an emergency to show. */
async function peopleProblems(slack: Slack, policy: Policy): Promise<readonly Problem[]> {
  const members = new Map<RoleName, ReadonlySet<UserId>>();
  const problems: Problem[] = [];
  for (const role of policy.roles.keys()) {
    const people = await slack.actors.membersOf(role);
    if (people === null) problems.push(inSlack(`did not tell who is in the role ${role}`));
    members.set(role, new Set(people ?? []));
  }
  return problems.length > 0 ? problems : unsatisfiable(policy, members);
}
