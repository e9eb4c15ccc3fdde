import type { JsonObject } from '../../src/base/text.ts';
import { type CommandContext, commands } from '../../src/commands/index.ts';
import type { Change, ChangeId } from '../../src/domain/change.ts';
import { evolveSchedule } from '../../src/domain/log-events.ts';
import { listChanges } from '../../src/log/index.ts';
import type { SendResult } from '../../src/servers/sent.ts';
import { jobKinds } from '../../src/workflow/background.ts';
import type { AttemptMark, Messenger, WorkflowContext } from '../../src/workflow/context.ts';
import { runKind } from '../../src/workflow/execute.ts';
import { createScheduleService } from '../../src/workflow/schedules.ts';
import { READS_OFF } from '../harness/reads-off.ts';
import { applied } from './applied.ts';
import { createTestContext, eventsOf, minutes, PLAN, STAGING } from './context.ts';
import { runDue } from './due.ts';

/** Stops at 19:00 UTC on weekdays, seven hours after noon of a Friday, and starts at 06:00 UTC. */
export const BODY: JsonObject = {
  ...{ stop: 'weekdays 20:00', start: 'weekdays 07:00', zone: 'Europe/Berlin' },
};
export const STOP = minutes(420);
/** On Monday. */
export const START = minutes(420 + 59 * 60);

export interface ScheduledOptions {
  readonly body?: JsonObject;
  readonly reads?: Partial<CommandContext['reads']['cloud']>;
  /** What the server answers. */
  readonly send?: () => Promise<SendResult>;
  readonly messages?: Partial<Messenger>;
}

const ACCEPTED: SendResult = { requestId: null, reported: [], learned: null };

/** A schedule of staging, in force since noon, with a server that accepts every request. */
export async function scheduled({ send, ...options }: ScheduledOptions = {}) {
  const sent: string[] = [];
  const notes: AttemptMark[] = [];
  const services = [{ ...STAGING }];
  const accept = async (_target: unknown, { command }: JsonObject): Promise<SendResult> => {
    sent.push(String(command));
    return send ? send() : ACCEPTED;
  };
  const changes = commands.flatMap((each) => (each.kind === 'change' ? [each] : []));
  const around = {
    ...{ services, prefix: '', organizations: [{ plan: 'paid', tier: 'scale' }] },
    reads: { cloud: { ...READS_OFF.cloud, ...options.reads }, alerts: null },
  };
  const base = await createTestContext({
    services: () => services,
    verifyServices: async () => services,
    commands: new Map(changes.map((one) => [one.name, one.own ? one : { ...one, send: accept }])),
    // The clients are not reached: the send above stands in for them.
    commandContext: () => ({ ...around, now: () => base.clock.now }) as unknown as CommandContext,
    messages: {
      postSending: async (_change, _at, mark) => void notes.push(mark),
      readThread: async () => ({ card: null, notes: [...notes] }),
      ...options.messages,
    },
  });
  const { context, clock } = base;
  const { events } = context;
  const begun = (body = options.body ?? BODY): Promise<Change> =>
    applied(context, {
      command: 'service schedule',
      reason: 'nobody works at night',
      plan: {
        ...{ body, sends: 'PUT schedule', before: null, rows: [] },
        target: { ...PLAN.target, kind: 'schedule' },
      },
    });
  const schedule = await begun();
  const act = (verb: 'pause' | 'resume' | 'remove', id: ChangeId = schedule.id) =>
    applied(context, {
      command: `service schedule ${verb}`,
      plan: { body: { schedule: id }, target: { ...PLAN.target, kind: 'schedule' }, before: null },
    });
  const run = (as: WorkflowContext = context) => runDue(as, { schedule: jobKinds(as).schedule });
  const runs = async () =>
    (await listChanges(events, { limit: 50 })).filter(({ plan }) => plan.timing?.schedule);
  const own = (id: ChangeId = schedule.id) => eventsOf(context, `schedule/${id}`);
  return {
    ...{ ...base, schedules: createScheduleService(context), schedule, begun, act },
    ...{ sent, services, run, runs, events: own },
    /** Moves the clock, and handles what is due. */
    at: async (time: Date, as?: WorkflowContext) => {
      clock.now = time;
      return run(as);
    },
    /** Runs what is due of the runs. */
    execute: (over: Partial<WorkflowContext> = {}) => {
      const as = { ...context, ...over };
      return runDue(as, { run: runKind(as) });
    },
    inLog: async () => (await events.load(`schedule/${schedule.id}`, evolveSchedule)).state,
    skipped: async () => (await own()).flatMap((each) => (each.type === 'skipped' ? each.why : [])),
  };
}
