import { z } from 'zod';
import type { JsonObject } from '../../base/text.ts';
import type { ChangeId, Snapshot, Target } from '../../domain/change.ts';
import {
  type ServiceSchedule,
  scheduleCommandLine,
  scheduleText,
  timesOf,
} from '../../domain/schedules.ts';
import { type Service, serviceTarget } from '../../domain/targets.ts';
import { ServiceName } from '../arguments/arguments.ts';
import { type ChangeCommand, changeCommand, type TargetObservation } from '../define.ts';
import type { CommandContext } from '../ports/command-context.ts';

/** The schedule of a service as the target of a change: policies select it like the service. */
export function scheduleTarget(service: Service): Target {
  return { ...serviceTarget(service), kind: 'schedule' };
}

/** The current schedule of a service, for a preview; null if it has none. */
export async function observeSchedule(
  { id }: Service,
  { schedules, now }: Pick<CommandContext, 'schedules' | 'now'>,
): Promise<TargetObservation> {
  const current = await schedules.of(id);
  return { before: current && snapshotOf(current, now()) };
}

function snapshotOf({ id, until, stop, start, zone, isPaused }: ServiceSchedule, seenAt: Date) {
  const fields: JsonObject = { id, stop, start, zone, isPaused, until: until.toISOString() };
  return { fields, seenAt, source: `schedule ${id}` } satisfies Snapshot;
}

/** What a change of an existing schedule does to it. */
interface ScheduleAction {
  readonly verb: 'pause' | 'resume' | 'remove';
  readonly summary: string;
  readonly warnings: readonly string[];
  readonly endingNote: string;
  /** The state in which the action has no effect; null if there is none. */
  readonly unlessPaused: boolean | null;
}

/** A command that pauses, resumes or removes the schedule of a service. */
export function scheduleAction(action: ScheduleAction): ChangeCommand {
  const { verb, summary, warnings, endingNote, unlessPaused } = action;
  return changeCommand({
    name: `service schedule ${verb}`,
    title: `${verb.charAt(0).toUpperCase()}${verb.slice(1)} a schedule`,
    summary,
    examples: [`service schedule ${verb} staging release week`],
    args: z.strictObject({ service: ServiceName }),
    call: 'PUT schedule',
    callClass: 'put',

    target: ({ service }) => scheduleTarget(service),
    observe: ({ service }, context) => observeSchedule(service, context),
    noEffect: ({ service }, before) => {
      if (!before) return { sentence: `${service.name} has no schedule.`, offers: [LIST] };
      if (unlessPaused === null || before.fields.isPaused !== unlessPaused) return null;
      const state = unlessPaused ? 'paused already' : 'in force already';
      return { sentence: `The schedule of ${service.name} is ${state}.`, offers: [] };
    },
    desired: (_args, before) => ({ schedule: before?.fields.id ?? null }),
    rows: (_args, before) => [
      { field: 'schedule', label: 'Schedule', before: null, after: textOf(before) },
    ],
    warnings: () => warnings,
    send: async (_target, body, { schedules }, { requester: by }) => {
      // The plan took the id from the schedule, which has the id of its change.
      await schedules[verb]({ schedule: String(body.schedule) as ChangeId, by });
      return { requestId: null, reported: [], learned: null };
    },
    undo: ({ id, name }, before) => UNDO[verb]({ id, name }, before),
    outcome: { done: DONE[verb] },
    endingNote,
  });
}

const DONE = { pause: 'paused', resume: 'resumed', remove: 'removed' } as const;
const LIST = { label: 'List schedules', line: 'service schedule list' };

type Undo = ReturnType<ChangeCommand['undo']>;
type UndoOf = (service: ServiceSchedule['service'], before: Snapshot | null) => Undo;

const UNDO: Readonly<Record<ScheduleAction['verb'], UndoOf>> = {
  pause: ({ id }) => ({ label: 'Resume', line: `service schedule resume ${id}` }),
  resume: ({ id }) => ({ label: 'Pause', line: `service schedule pause ${id}` }),
  remove: (service, before) =>
    before && {
      label: 'Schedule again',
      line: scheduleCommandLine({ service, ...timesOf(before) }),
    },
};

function textOf(before: Snapshot | null): string {
  return before ? scheduleText(timesOf(before)) : 'none';
}
