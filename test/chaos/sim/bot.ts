import { sql } from 'kysely';
import { pino } from 'pino';
import type { CommandContext } from '../../../src/commands/index.ts';
import type { ChangeId, UserId } from '../../../src/domain/change.ts';
import type { Policy } from '../../../src/domain/policy.ts';
import type { Service } from '../../../src/domain/targets.ts';
import type { Database } from '../../../src/storage/old/database.ts';
import { type Click, receiveClick } from '../../../src/workflow/old/click.ts';
import type { WorkflowContext } from '../../../src/workflow/old/ports.ts';
import { type RequestOutcome, requestChange } from '../../../src/workflow/old/request.ts';
import { createScheduler } from '../../../src/workflow/old/scheduler.ts';
import { workflowLoops } from '../../../src/workflow/old/workflow-loops.ts';
import { ignoredMeasures } from '../../workflow/ignored-measures.ts';
import { commandsOn, DIRECTORY, type Kind } from './commands.ts';
import { type Crash, openPorts } from './ports.ts';
import type { Server } from './server.ts';
import type { Slack } from './slack.ts';

/** What exists outside the processes: the database, the servers and the clock. */
export interface Environment {
  readonly database: Database;
  readonly auditKey: Buffer;
  readonly server: Server;
  readonly slack: Slack;
  readonly now: () => Date;
  readonly newId: () => ChangeId;
  readonly policy: () => Policy;
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

/** One process of the bot; each call to the outside goes through its ports. */
export function openBot(around: Environment, name: string, crash: Crash | null = null) {
  const ports = openPorts(crash);
  const context = contextOf(around, name, ports, () => scheduler.wake());
  const scheduler = createScheduler(context.log);

  async function ask({ by, kind, thing, mark, key, inMs }: RequestInput): Promise<RequestOutcome> {
    const command = context.commands.get(kind);
    if (!command) throw new Error(`There is no ${kind}`);
    const given = { thing, mark };
    const request = { command, args: given, given, reason: 'as planned', requester: by };
    const timing = inMs > 0 ? { timing: { at: null, inMs, forMs: null } } : {};
    return requestChange(context, { ...request, ...timing, origin: null, edits: null, key });
  }

  /** Runs the background loops until nothing changes any more. */
  async function work(): Promise<void> {
    for (let pass = 0; pass < 30; pass += 1) {
      const before = await marks(around.database);
      await start()();
      if ((await marks(around.database)) === before) return;
    }
    throw new Error('The background loops do not finish');
  }

  /** Runs the background loops as a process does, until the returned function ends them. */
  function start(): () => Promise<void> {
    const { loops, drain } = workflowLoops(context);
    scheduler.start(loops, 2 ** 30);
    return async () => {
      await scheduler.stop();
      await drain();
    };
  }
  return {
    ports,
    ask,
    work,
    start,
    wake: scheduler.wake,
    press: (key: string, click: Click) => receiveClick(context, key, click),
  };
}

export type Bot = ReturnType<typeof openBot>;

function contextOf(
  around: Environment,
  name: string,
  ports: Bot['ports'],
  wake: () => void,
): WorkflowContext {
  const { database, auditKey, server, slack, now, newId, services = DIRECTORY } = around;
  return {
    database: {
      ...database,
      transaction: (body) => ports.call('commit', () => database.transaction(body)),
      run: (statement) => ports.call('commit', () => database.run(statement)),
    },
    auditKey,
    trail: {
      problem: async () => null,
      verifyAll: async () => undefined,
      follow: async () => undefined,
      isRevertPlanned: () => false,
      writeCheckpoint: async () => undefined,
    },
    configuration: 'c1',
    prices: null,
    get policy() {
      return around.policy();
    },
    services: () => services,
    discoversServices: false,
    directCards: { onRequest: false, of: async () => [] },
    verifyServices: async () => services,
    commands: commandsOn(ports, server, now),
    // The commands call the server directly and need no directory.
    commandContext: () => ({ services: [] }) as unknown as CommandContext,
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
async function marks({ db }: Database): Promise<string> {
  const { rows } = await sql<Record<string, number>>`
    select (select seq from audit_head) as events,
      (select max(id) from outbox) as stored,
      (select count(*) from outbox where done_at is null) as waiting,
      (select count(*) from outbox where done_at is null and attempts = 0) as fresh,
      (select count(*) from inbox where handled_at is null) as clicks`.execute(db);
  return JSON.stringify(rows);
}
