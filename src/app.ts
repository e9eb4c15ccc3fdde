import { randomBytes, randomUUID } from 'node:crypto';
import { once } from 'node:events';
import type { Server } from 'node:http';
import { setTimeout as wait } from 'node:timers/promises';
import type { Logger } from 'pino';
import { type AlertList, type AlertsClient, createAlertsClient } from './alerts/client.ts';
import type { RoleName, UserId } from './changes/change.ts';
import { changeIdFrom } from './changes/id.ts';
import { createCloudClient } from './cloud/client.ts';
import { commands } from './commands/index.ts';
import type { Config, Problem } from './config.ts';
import { createCostReader, type ReadCosts } from './cost-reader.ts';
import type { Span } from './costs/calendar.ts';
import { createDigestDesk } from './digest/desk.ts';
import type { Gathered } from './digest/gather.ts';
import { pressIncident } from './digest/incident-press.ts';
import { digestReader } from './digest/options.ts';
import { createDigestRun } from './digest/run.ts';
import type { Subscribed } from './digest/subscribed.ts';
import { createWatchDesk } from './digest/watch-desk.ts';
import { createWatch, type WatchWorld } from './digest/watch-run.ts';
import { watchedFor } from './digest/watched.ts';
import { directoryOf, type Service } from './directory/directory.ts';
import type { Clock } from './http/clock.ts';
import type { ChangeCommand, Reach } from './intent/define.ts';
import type { Policy } from './policy/policy.ts';
import { unsatisfiable } from './policy/satisfiable.ts';
import { createDoor } from './server.ts';
import { sharedRead } from './shared-read.ts';
import { connect, type Slack } from './slack/start.ts';
import { type Database, openDatabase } from './storage/database.ts';
import { knownServices } from './storage/directory.ts';
import { tellEffects } from './workflow/effect-notice.ts';
import { type MoreLanes, startLanes } from './workflow/lanes.ts';
import { learnFromUsage } from './workflow/learn.ts';
import { tidy } from './workflow/tidy.ts';
import type { World } from './workflow/world.ts';

const LOOK_EVERY_MS = 1_000;
const READ_DIRECTORY_EVERY_MS = 10_000;
const LEARN_EVERY_MS = 6 * 3_600_000;
const TIDY_EVERY_MS = 3_600_000;
const MEASURE_EVERY_MS = 3_600_000;
const ALERTS_KEPT_MS = 30_000;

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
    return await open(options, database, connected.slack, now);
  } catch (error) {
    await database.close();
    throw error;
  }
}

async function open(
  options: AppOptions,
  database: Database,
  slack: Slack,
  now: () => Date,
): Promise<Started> {
  const { config, log } = options;
  const instance = randomUUID();
  const auditKey = config.key ? Buffer.from(config.key.reveal(), 'base64') : null;
  const newId = () => changeIdFrom(randomBytes(6));
  const { messenger } = slack;
  const digests = { messenger, auditKey, newId, instance };
  const reach = await openReach(options, database, digests);
  const late: { wake: () => void } = { wake: () => {} };
  const world: World = {
    database,
    auditKey,
    policy: config.policy,
    commands: changeCommands(),
    reach: reach.now,
    people: slack.actors,
    messenger,
    log,
    now,
    newId,
    instance,
    wake: () => late.wake(),
    learned: reach.refresh,
    pressIncident: (press) => pressIncident(world, press),
  };
  const lanes = startLanes(world, LOOK_EVERY_MS, reach.lanes);
  late.wake = lanes.wake;

  const chores = startChores(world, reach.costs);
  const listening = await slack.listen(world);
  const notReady = async () => {
    if (!listening.isOpen()) return 'Slack is not connected.';
    return database.check().then(
      () => null,
      () => 'The database does not answer.',
    );
  };
  const door = createDoor(listening.listener, { notReady });
  const port = await listenOn(door, config.port);
  await listening.open();

  const stop = async () => {
    await listening.close();
    door.close();
    await listening.quiet();
    await lanes.stop();
    await chores.stop();
    await reach.close();
    door.closeAllConnections();
    await database.close();
  };
  return { ok: true, port, wake: lanes.wake, stop };
}

/** What nobody waits for: names from the usage report, what has served its time, old effects. */
function startChores(world: World, costs: ReadCosts) {
  const learn = () => learnFromUsage(world).then(world.learned);
  const measure = () => tellEffects(world, (span) => costs(span, { priority: 'digest' }));
  const chores = [
    { work: learn, everyMs: LEARN_EVERY_MS },
    { work: () => tidy(world), everyMs: TIDY_EVERY_MS },
    { work: measure, everyMs: MEASURE_EVERY_MS },
  ].map(({ work, everyMs }) => {
    const run = () =>
      work().catch((error: unknown) => {
        world.log.warn({ err: error }, 'a chore was not done this time');
      });
    const chore = { last: run() };
    const timer = setInterval(() => {
      chore.last = run();
    }, everyMs);
    return { timer, chore };
  });
  return {
    stop: async () => {
      for (const { timer } of chores) clearInterval(timer);
      await Promise.all(chores.map(({ chore }) => chore.last));
    },
  };
}

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

interface OpenReach {
  readonly now: () => Reach;
  readonly costs: ReadCosts;
  readonly lanes: MoreLanes;
  readonly refresh: () => void;
  readonly close: () => Promise<void>;
}

/** The clients, and the directory as the database last had it: other replicas learn too. */
async function openReach(
  options: AppOptions,
  database: Database,
  parts: Pick<World, 'messenger' | 'auditKey' | 'newId' | 'instance'>,
): Promise<OpenReach> {
  const { config, version, log, clock, now = () => new Date() } = options;
  const { url: baseUrl, keyId, keySecret } = config.cloud;
  const { id: organizationId, plan, tier } = config.organization;
  const organization = { plan, tier };
  const cloud = createCloudClient({
    baseUrl,
    keyId,
    keySecret,
    organizationId,
    organization,
    version,
    clock,
  });
  const alerts = config.alerts
    ? createAlertsClient({ baseUrl: config.alerts.url, token: config.alerts.token, version, clock })
    : null;

  const lists = sharedRead(
    () => readAlerts(alerts),
    ALERTS_KEPT_MS,
    () => now().getTime(),
  );
  const clients = {
    cloud,
    alerts,
    listAlerts: () => lists.read('all', { fresh: false }),
    costs: (span: Span) => readCosts(span, { priority: 'people' }),
    organization: { plan, tier },
    openToTheWorld: config.access.openToTheWorld,
    now,
  };

  const readCosts = createCostReader({ cloud, database, now, log });
  let services: readonly Service[] = [];
  const read = async () => {
    services = directoryOf(config.services, await knownServices(database.db));
  };
  const refresh = () => {
    read().catch((error: unknown) => log.warn({ err: error }, 'the directory was not read again'));
  };
  await read();
  const digestWorld = {
    ...parts,
    database,
    configured: config.digests,
    readOptions: digestReader(config.services),
    costs: (span: Span) => readCosts(span, { priority: 'digest' }),
    services: () => services,
    watched: (one: Subscribed, gathered: Gathered) => watchedFor(watchWorld, one, gathered),
    pause: (ms: number) => wait(ms),
    log,
    now,
  };
  const watchWorld: WatchWorld = { ...digestWorld, budgets: config.budgets };
  const watch = createWatchDesk({ ...watchWorld, costs: clients.costs });
  const digests = createDigestDesk(digestWorld);
  const timer = setInterval(refresh, READ_DIRECTORY_EVERY_MS);
  return {
    now: () => ({ ...clients, digests, watch, services }),
    costs: readCosts,
    lanes: { runDigests: createDigestRun(digestWorld), watchCosts: createWatch(watchWorld) },
    refresh,
    close: async () => {
      clearInterval(timer);
      await Promise.all([cloud.close(), alerts?.close()]);
    },
  };
}

async function readAlerts(alerts: AlertsClient | null): Promise<AlertList> {
  if (!alerts) return { alerts: [], total: 0, complete: true };
  return (await alerts.listAlerts()).result;
}
