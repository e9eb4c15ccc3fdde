import { z } from 'zod';
import type { Snapshot } from '../domain/change.ts';
import { alreadyInState, serviceTarget } from '../domain/targets.ts';
import { ServiceName } from '../intent/arguments/arguments.ts';
import { changeCommand } from '../intent/define.ts';
import { compareService, compareState } from '../intent/services/compare-service.ts';
import { observeService } from '../intent/services/observe-service.ts';
import { settledInState, UNFOLLOWED } from '../intent/settled.ts';
import { sentService } from '../servers/sent.ts';

export const serviceStart = changeCommand({
  name: 'service start',
  title: 'Start a service',
  summary: 'Start a stopped service',
  examples: ['service start analytics-prod maintenance is over'],
  permission: 'service:manage',
  args: z.strictObject({ service: ServiceName }),
  call: 'PATCH state',
  callClass: 'patch',
  timed: 'start and revert',
  effect: 'start',

  target: ({ service }) => serviceTarget(service),
  observe: ({ service }, context) => observeService(service, context),
  compareBeforeSending: (plan, context) => compareService(plan, context, compareState('start')),
  noEffect: ({ service }, before) => alreadyInState(service, before, ['running', 'starting']),
  desired: () => ({ command: 'start' }),
  warnings: (_args, before) => [...idleWarning(before), ...runningWarning(before)],
  send: async ({ id, name }, _body, { cloud }) =>
    sentService(id, name, await cloud.updateServiceState(id, { command: 'start' })),
  settled: settledInState({
    ends: ['running', 'idle'],
    begun: ['starting', 'awaking', 'provisioning', 'partially_running', 'degraded'],
    open: ['stopped'],
  }),
  undo: ({ id }) => ({ label: 'Stop it again', line: `service stop ${id}` }),
  outcome: { done: 'started', accepted: 'is starting' },
  endingNote: 'This can take minutes.',
  unfollowedNote: UNFOLLOWED,
});

function idleWarning(before: Snapshot | null): readonly string[] {
  if (before?.fields.state !== 'idle') return [];
  return before.wasRead
    ? ['Idle, not stopped: the next query wakes it; a start does not.']
    : ['Idle when last seen: the next query wakes it; a start does not.'];
}

/** For a change that is scheduled: otherwise it is not requested. */
function runningWarning(before: Snapshot | null): readonly string[] {
  const isRunning = before?.wasRead === true && before.fields.state === 'running';
  return isRunning ? ['Running now: the start has no effect if it still runs by then.'] : [];
}
