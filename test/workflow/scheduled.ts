import type { JsonObject } from '../../src/base/text.ts';
import { type CommandContext, commands } from '../../src/commands/index.ts';
import type { Change, ChangeId, RoleName, UserId } from '../../src/domain/change.ts';
import type { Service } from '../../src/domain/targets.ts';
import { eventsOf } from '../../src/log/old/append.ts';
import { listChanges } from '../../src/log/old/change-lists.ts';
import { currentSchedules, lastRuns } from '../../src/log/old/schedules.ts';
import type { SendResult } from '../../src/servers/sent.ts';
import { claimDueMessages } from '../../src/storage/old/outbox.ts';
import { execute } from '../../src/workflow/old/execute.ts';
import type { WorkflowContext } from '../../src/workflow/old/ports.ts';
import { createScheduleRunner } from '../../src/workflow/old/run-schedules.ts';
import { createScheduleService } from '../../src/workflow/old/schedule-service.ts';
import { policyOf } from '../domain/policy-fixtures.ts';
import { READS_OFF } from '../harness/reads-off.ts';
import { type Engine, freshDatabase } from '../storage/engines.ts';
import {
  aChange,
  ana,
  ben,
  cleo,
  minutes,
  newId,
  storedWithTrail,
} from '../storage/example-change.ts';
import { createTestContext } from './context.ts';
import { RULE, SERVICE } from './stored-change.ts';

/** Stops at 18:00 UTC on weekdays, six hours after noon of a Friday, and starts at 05:00 UTC. */
export const BODY: JsonObject = {
  stop: 'weekdays 20:00',
  start: 'weekdays 07:00',
  zone: 'Europe/Berlin',
};
export const STOP = minutes(360);
/** On Monday. */
export const START = minutes(360 + 59 * 60);

const ROLES: Readonly<Record<UserId, readonly RoleName[]>> = {
  [ana]: ['operator'],
  [ben]: ['approver'],
  [cleo]: ['approver'],
};

export interface ScheduledOptions {
  readonly engine?: Engine;
  readonly body?: JsonObject;
  readonly service?: Partial<Service>;
  readonly reads?: Partial<CommandContext['reads']['cloud']>;
}

/** A schedule of staging, in force since noon, with a server that accepts every request. */
export async function scheduled({ engine = 'sqlite', ...options }: ScheduledOptions = {}) {
  const base = await createTestContext();
  const { clock } = base;
  const now = () => clock.now;
  const database = await freshDatabase(engine, { now });
  const sent: string[] = [];
  const services: Service[] = [{ ...SERVICE, ...options.service }];
  const roles = new Map(Object.entries(ROLES));
  const cloud = {
    updateServiceState: async (_id: string, { command }: { command: string }) => {
      sent.push(command);
      const result = { id: SERVICE.id, name: SERVICE.name, state: 'x' };
      return { result, requestId: null };
    },
  };
  const around = {
    ...{ services, cloud, now, prefix: '', organization: { plan: 'paid', tier: 'scale' } },
    reads: { cloud: { ...READS_OFF.cloud, ...options.reads }, alerts: null },
  };
  const changes = commands.filter((command) => command.kind === 'change');
  const accept = async (_target: unknown, { command }: JsonObject): Promise<SendResult> => {
    sent.push(String(command));
    return { requestId: null, reported: [], learned: null };
  };
  const context: WorkflowContext = {
    ...base.context,
    ...{ database, newId, now, services: () => services },
    policy: policyOf([RULE]),
    commands: new Map(changes.map((one) => [one.name, { ...one, send: accept }])),
    // The clients are not reached: the send above stands in for them.
    commandContext: () => around as unknown as CommandContext,
    people: {
      ...base.context.people,
      identify: async (id) => ({
        ok: true,
        actor: { id, roles: roles.get(id) ?? [] },
        evidence: { groups: [] },
      }),
    },
  };
  const schedules = createScheduleService(context);
  const schedule = await begun();

  async function begun(body = options.body ?? BODY): Promise<Change> {
    const { plan, requires } = aChange();
    const change = aChange({
      command: 'service schedule',
      plan: {
        ...plan,
        ...{ body, sends: 'PUT schedule', before: null, rows: [] },
        target: { ...plan.target, kind: 'schedule' },
      },
      requires: { ...requires, from: 'approver', count: 2 },
      state: 'succeeded',
      approvals: [ben, cleo].map((by, index) => ({ by, at: minutes(index - 2) })),
    });
    await storedWithTrail(database, change);
    await schedules.begin(change.id);
    return change;
  }
  const run = createScheduleRunner(context);
  const runs = async () =>
    (await listChanges(database.db, { limit: 50 })).filter(({ plan }) => plan.timing?.schedule);
  return {
    ...{ context, clock, database, schedules, schedule, begun, sent, services, roles, run, runs },
    /** Moves the clock, and handles what is due. */
    at: (time: Date) => {
      clock.now = time;
      return run();
    },
    execute: async (over: Partial<WorkflowContext> = {}) => {
      for (const { id } of await runs()) await execute({ ...context, ...over }, id);
    },
    handled: () => database.db.selectFrom('schedule_run').selectAll().execute(),
    skipped: async () =>
      (await lastRuns(database.db, [schedule.id])).get(schedule.id)?.skipped ?? null,
    current: () => currentSchedules(database.db),
    events: async (id: ChangeId = schedule.id) =>
      (await eventsOf(database.db, id)).filter(({ version }) => version === null),
    messages: async () => {
      const lease = { owner: 'test', now: clock.now, leaseMs: 1, limit: 99 };
      const due = await database.transaction((tx) => claimDueMessages(tx, lease));
      return due.map(({ kind, message }) =>
        message?.kind === 'schedule-note' ? message.text : kind,
      );
    },
  };
}
