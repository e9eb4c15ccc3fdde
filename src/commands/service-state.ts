import { z } from 'zod';
import type { Json, JsonObject } from '../base/text.ts';
import type { Plan, Snapshot, Target } from '../domain/change.ts';
import {
  alreadyInState,
  classOf,
  type NoEffect,
  type Service,
  type StateClass,
  serviceTarget,
} from '../domain/targets.ts';
import { wordOf } from '../domain/words.ts';
import { sentService } from '../servers/sent.ts';
import { commandLine, ServiceName } from './arguments.ts';
import { type ChangeCommand, type CommandContext, changeCommand } from './define.ts';
import { type Compare, compareService, observeService } from './service-observe.ts';
import { settledInState, UNFOLLOWED } from './settled.ts';

/** What start and stop have in common. */
const common = (command: 'start' | 'stop') =>
  ({
    permission: 'service:manage',
    args: z.strictObject({ service: ServiceName }),
    call: 'PATCH state',
    timed: 'start and revert',
    effect: command,
    target: ({ service }: { readonly service: Service }) => serviceTarget(service),
    compareBeforeSending: (plan: Plan, context: CommandContext) =>
      compareService(plan, context, compareState(command)),
    desired: () => ({ command }),
    send: async ({ id, name }: Target, _body: JsonObject, { cloud }: CommandContext) =>
      sentService(id, name, await cloud.updateServiceState(id, { command })),
    endingNote: 'This can take minutes.',
    unfollowedNote: UNFOLLOWED,
  }) as const;

export const serviceStart = changeCommand({
  ...common('start'),
  name: 'service start',
  program: 'request',
  title: 'Start a service',
  summary: 'Start a stopped service',
  examples: ['service start analytics-prod maintenance is over'],

  observe: ({ service }, context) => observeService(service, context),
  noEffect: ({ service }, before) =>
    alreadyInState(service, before, UP) ??
    unfit(service, before, ['stopping'], 'it is stopped') ??
    goneRefusal(service, before),
  warnings: (_args, before) => startWarnings(before),
  activities: ['service_start'],
  settled: settledInState({
    ends: ['running', 'idle'],
    begun: ['starting', 'awaking', 'provisioning', 'partially_running', 'degraded'],
    open: ['stopped'],
  }),
  undo: ({ id }) => ({ label: 'Stop it again', line: `service stop ${id}` }),
  outcome: { done: 'started', accepted: 'is starting' },
});

/** The states in which a command has no effect or is rejected. */
const BLOCKING: Readonly<Record<'start' | 'stop', readonly StateClass[]>> = {
  start: ['up', 'failed', 'gone'],
  stop: ['down', 'failed', 'gone'],
};

/**
 * A state differs if the command had an effect in the previewed state and has none now. Other
 * changes, for example from running to idle, do not matter.
 */
function compareState(command: 'start' | 'stop'): Compare {
  return ({ state: previewed }, { state: now = null }) => {
    const [then, current] = [classOf(previewed), classOf(now)];
    if (then !== null && now === null) return { differences: [], missing: ['state'] };
    const isBlocked = current !== null && BLOCKING[command].includes(current);
    if (then === null || then === current || !isBlocked) return SAME;
    const difference = { label: 'State', was: String(previewed), is: String(now) };
    return { differences: [difference], missing: [] };
  };
}

const SAME: ReturnType<Compare> = { differences: [], missing: [] };

function startWarnings(before: Snapshot | null): readonly string[] {
  const { state } = before?.fields ?? {};
  const idle = before?.wasRead ? 'Idle, not stopped' : 'Idle when last seen';
  if (state === 'idle') return [`${idle}: the next query wakes it; a start does not.`];
  // For a change that is scheduled: otherwise it is not requested.
  const isRunning = before?.wasRead === true && state === 'running';
  return isRunning ? ['Running now: the start has no effect if it still runs by then.'] : [];
}

export const serviceStop: ChangeCommand = changeCommand({
  ...common('stop'),
  name: 'service stop',
  program: 'request',
  title: 'Stop a service',
  summary: 'Stop a service',
  examples: ['service stop analytics-prod nightly maintenance'],

  observe: ({ service }, context) => observeService(service, context, { secondaries: true }),
  noEffect: ({ service }, before) =>
    alreadyInState(service, before, ['stopped', 'stopping']) ??
    unfit(service, before, ['provisioning', 'starting', 'awaking'], 'it runs') ??
    goneRefusal(service, before) ??
    primaryRefusal(service, before),
  warnings: (_args, before) => [
    'Queries and pipes of this service stop.',
    ...primaryWarning(before),
    ...stateWarning(before),
  ],
  activities: ['service_stop'],
  settled: settledInState({
    ends: ['stopped'],
    begun: ['stopping'],
    open: ['running', 'idle', 'partially_running', 'degraded'],
  }),
  undo: ({ id }) => ({ label: 'Start it again', line: `service start ${id}` }),
  outcome: { done: 'stopped', accepted: 'is stopping' },
});

const REJECTED = 'Primary of its warehouse: the server rejects the stop while secondaries run';

function primaryWarning(before: Snapshot | null): readonly string[] {
  if (before?.fields.isPrimary !== true) return [];
  const { runningSecondaries: running, otherSecondaries: others } = before.volatileFields ?? {};
  if (!Array.isArray(running) || !Array.isArray(others)) return [`${REJECTED}.`];
  if (running.length > 0) return [`${REJECTED}. Stop them first: ${namesText(running)}.`];
  if (others.length === 0) return [];
  return [
    `Primary of its warehouse: some servers reject the stop while it has secondaries: ${namesText(others)}.`,
  ];
}

/** States from which a start changes nothing. An idle service has a warning: the next query wakes it. */
const UP = ['running', 'starting', 'provisioning', 'awaking'];

/** A service that failed or is being deleted can be neither started nor stopped. */
function goneRefusal(service: Service, before: Snapshot | null): NoEffect | null {
  const { state } = before?.wasRead ? before.fields : {};
  const is = classOf(state);
  return is === 'gone' || is === 'failed' ? unfit(service, before, [String(state)]) : null;
}

/** In these states the server rejects the change. */
function unfit(
  { id, name }: Service,
  before: Snapshot | null,
  states: readonly string[],
  until?: string,
): NoEffect | null {
  const { state } = before?.wasRead ? before.fields : {};
  if (typeof state !== 'string' || !states.includes(state)) return null;
  const next = until ? ` Request it again once ${until}.` : '';
  const sentence = `${name} is ${wordOf(state)} (checked just now), so the server would reject the change. Nothing was requested.${next}`;
  return { sentence, offers: [{ label: 'Show it', line: `service show ${id}` }] };
}

/** The server rejects the stop of a primary whose secondaries run, so that it is not requested. */
function primaryRefusal({ name }: Service, before: Snapshot | null): NoEffect | null {
  if (!before?.wasRead || before.fields.isPrimary !== true) return null;
  const running = before.volatileFields?.runningSecondaries;
  if (!Array.isArray(running) || running.length === 0) return null;
  const offers = running.slice(0, 3).map((one) => ({
    label: `Stop ${String(one)}`,
    line: commandLine(serviceStop, { service: String(one) }, ''),
  }));
  const sentence = `${name} is the primary of its warehouse, and its secondaries run, so the server would reject the stop. Stop them first: ${namesText(running)}.`;
  return { sentence, offers };
}

const SHOWN_NAMES = 5;

function namesText(names: readonly Json[]): string {
  const rest = names.length - SHOWN_NAMES;
  const more = rest > 0 ? ` and ${rest} more` : '';
  return names.slice(0, SHOWN_NAMES).join(', ') + more;
}

/** States that a user may not expect; a stopped service is only for a scheduled stop. */
function stateWarning(before: Snapshot | null): readonly string[] {
  if (!before?.wasRead) return [];
  const { state } = before.fields;
  if (state === 'idle') return ['Idle now: once it is stopped, queries no longer wake it.'];
  return state === 'stopped'
    ? ['Stopped now: the stop has no effect if it is still stopped by then.']
    : [];
}
