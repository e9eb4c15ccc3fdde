import { pino } from 'pino';
import { Secret } from '../../../src/base/errors.ts';
import type { CommandContext } from '../../../src/commands/index.ts';
import type { ChangeId, UserId } from '../../../src/domain/change.ts';
import type { Policy } from '../../../src/domain/policy.ts';
import type { Service } from '../../../src/domain/targets.ts';
import { type Log, openLog, readKeys } from '../../../src/log/index.ts';
import { reading, type Store, sql } from '../../../src/storage/index.ts';
import { jobKinds } from '../../../src/workflow/background.ts';
import type { WorkflowContext } from '../../../src/workflow/context.ts';
import { requestChange } from '../../../src/workflow/index.ts';
import { createJobLoop } from '../../../src/workflow/jobs.ts';
import { redrawOpen } from '../../../src/workflow/moves.ts';
import { receivePress } from '../../../src/workflow/press.ts';
import { checkChannels, isUnread, mendLog, watchLog } from '../../../src/workflow/witness.ts';
import { ignoredMeasures } from '../../workflow/ignored-measures.ts';
import { commandsOn, DIRECTORY, type Kind } from './commands.ts';
import { type Crash, openPorts } from './ports.ts';
import type { Server } from './server.ts';
import type { Slack } from './slack.ts';

/** What exists outside the processes: the database, the servers and the clock. */
export interface Environment {
  readonly store: Store;
  readonly server: Server;
  readonly slack: Slack;
  readonly now: () => Date;
  readonly newId: () => ChangeId;
  readonly policy: () => Policy;
  /** How many connections the database has ended. */
  readonly lostConnections: () => number;
  readonly rollBack: (commits: number) => Promise<void>;
  /** Without them, the services of `DIRECTORY`. */
  readonly services?: readonly Service[];
}

export interface RequestInput {
  readonly by: UserId;
  readonly kind: Kind;
  readonly thing: string;
  readonly mark: string;
  readonly key: string;
  /** The delay until the scheduled time; 0 means at once. */
  readonly inMs: number;
}

export interface AllowInput extends Pick<RequestInput, 'by' | 'thing' | 'key'> {
  readonly uses: number;
}

export type Pressed = Parameters<typeof receivePress>[1];

interface ProcessOptions {
  readonly name: string;
  readonly crash?: Crash | null;
  /** How far its clock is ahead of that of the database. */
  readonly skewMs?: number;
}

/** One process of the bot; each call to the outside goes through its ports. */
export async function openBot(
  environment: Environment,
  { name, crash = null, skewMs = 0 }: ProcessOptions,
) {
  const now = () => new Date(environment.now().getTime() + skewMs);
  const around = { ...environment, now };
  const ports = openPorts(crash, around.rollBack);
  const { store, lostConnections } = around;
  const commit: Store['commit'] = (body) => ports.call('commit', () => store.commit(body));
  // Each process has turns of its own: one that is dead keeps its turn.
  const inTurn: Store['inTurn'] = (work) => work();
  const own: Store = { ...store, lostConnections, commit, inTurn };
  const loops = { wake: () => {} };
  const context = contextOf(around, name, ports, await logOf(own), () => loops.wake());
  let known: number | null = null;
  const check = async () => {
    await watchLog(context);
    if (known === lostConnections() && !isUnread(context)) return;
    const before = lostConnections();
    await checkChannels(context);
    known = before;
  };
  // Before it draws anything, as the bot does at its start. An unreadable Slack is read again before the next work.
  const checked = check().catch(() => undefined);

  async function ask({ by, kind, thing, mark, key, inMs }: RequestInput) {
    const command = context.commands.get(kind);
    if (!command) throw new Error(`There is no ${kind}`);
    const given = { thing, mark };
    const request = { command, args: given, given, reason: 'as planned', requester: by };
    const timing = inMs > 0 ? { timing: { at: null, inMs, forMs: null } } : {};
    return requestChange(context, { ...request, ...timing, edits: null, key });
  }

  /** Asks for a standing approval of stops of a service. */
  async function allow({ by, thing, uses, key }: AllowInput) {
    const command = context.commands.get('change allow');
    const own = environment.services ?? DIRECTORY;
    const service = own.find(({ name }) => name === thing);
    if (!command || !service) throw new Error(`Nothing allows stops of ${thing}`);
    const scope = { ...service, scope: { service: { id: service.id, name: service.name } } };
    const given = { action: 'stop', scope: thing, uses: String(uses) };
    const request = { command, args: { action: 'stop', scope, uses }, given, requester: by };
    return requestChange(context, { ...request, reason: 'as planned', edits: null, key });
  }

  /** Runs the jobs until nothing changes any more. */
  async function work(): Promise<void> {
    for (let pass = 0; pass < 40; pass += 1) {
      const before = await marks(store);
      await start()();
      if ((await marks(store)) === before) return;
    }
    throw new Error('The jobs do not finish');
  }

  /** Runs the jobs as a process does, until the returned function ends that. */
  function start(): () => Promise<void> {
    const onError = (error: unknown) => mendLog(context, error);
    const onLate = async () => undefined;
    const on = { ...context, onError, onLate };
    const loop = createJobLoop(on, jobKinds(context));
    const started = checked.then(check).then(() => {
      loops.wake = loop.wake;
      loop.start(2 ** 30);
    });
    return async () => {
      await started.then(
        () => loop.stop(),
        () => undefined,
      );
    };
  }
  return {
    ports,
    ask,
    allow,
    work,
    start,
    wake: () => loops.wake(),
    events: context.events,
    /** What the bot does every hour. */
    upkeep: () => redrawOpen(context),
    press: (pressed: Pressed) => receivePress(context, pressed),
  };
}

const key = new Secret(Buffer.alloc(32, 7).toString('base64'));
/** Derived once for all processes of a simulation. */
const KEYS = readKeys({ databaseUrl: 'file::memory:', key, previous: [] });

/** Opens the log as this process knows it. */
export function logOf(store: Store): Promise<Log> {
  return openLog(store, KEYS);
}

export type Bot = Awaited<ReturnType<typeof openBot>>;

function contextOf(
  around: Environment,
  name: string,
  ports: Bot['ports'],
  events: Log,
  wake: () => void,
): WorkflowContext {
  const { server, slack, now, newId, services = DIRECTORY } = around;
  return {
    store: events.store,
    events,
    organization: 'acme',
    organizations: ['acme'],
    configuration: 'c1',
    prices: null,
    get policy() {
      return around.policy();
    },
    services: () => services,
    discoversServices: false,
    directCards: { onRequest: false, of: async () => [] },
    reminders: [0.5, 0.9],
    verifyServices: async () => services,
    commands: commandsOn(ports, server, now),
    // The commands call the server directly and need the directory alone.
    commandContext: () => ({ services }) as unknown as CommandContext,
    people: slack.people(ports),
    messenger: slack.messenger(ports),
    log: pino({ level: process.env.TEST_LOG ?? 'silent' }),
    now,
    newId,
    instance: name,
    wake,
    refreshDirectory: () => undefined,
    estimateCost: async () => undefined,
    homeCosts: async () => null,
    incidents: { press: nothing, details: nothing },
    measures: ignoredMeasures,
  };
}

async function nothing(): Promise<never> {
  throw new Error('There are no anomalies in the simulation');
}

/** Counters that change with any work. */
async function marks(store: Store): Promise<string> {
  return reading(store, async (reader) => {
    const { rows } = await sql<Record<string, number>>`
      select (select max(seq) from event) as events, (select count(*) from job) as jobs,
        (select sum(attempts) from job) as attempts, (select sum(asked) from job) as asked,
        (select sum(due_at) from job) as due`.execute(reader);
    return JSON.stringify(rows);
  });
}
