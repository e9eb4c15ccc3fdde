import { z } from 'zod';
import type { Json } from '../base/text.ts';
import type { Snapshot } from '../domain/change.ts';
import { alreadyInState, serviceTarget } from '../domain/targets.ts';
import { ServiceName } from '../intent/arguments/arguments.ts';
import { changeCommand } from '../intent/define.ts';
import { compareService, compareState } from '../intent/services/compare-service.ts';
import { observeService } from '../intent/services/observe-service.ts';
import { settledInState, UNFOLLOWED } from '../intent/settled.ts';
import { sentService } from '../servers/sent.ts';

export const serviceStop = changeCommand({
  name: 'service stop',
  title: 'Stop a service',
  summary: 'Stop a service',
  examples: ['service stop analytics-prod nightly maintenance'],
  permission: 'service:manage',
  args: z.strictObject({ service: ServiceName }),
  call: 'PATCH state',
  callClass: 'patch',
  timed: 'start and revert',
  effect: 'stop',

  target: ({ service }) => serviceTarget(service),
  observe: ({ service }, context) => observeService(service, context, { secondaries: true }),
  compareBeforeSending: (plan, context) => compareService(plan, context, compareState('stop')),
  noEffect: ({ service }, before) => alreadyInState(service, before, ['stopped', 'stopping']),
  desired: () => ({ command: 'stop' }),
  warnings: ({ service }, before) => [
    'Queries and pipes of this service stop.',
    ...primaryWarning(before),
    ...stateWarning(before),
    ...(service.lastSeen || before
      ? []
      : ['Current state: unknown (Signalbox has not seen this service yet).']),
  ],
  send: async ({ id, name }, _body, { cloud }) =>
    sentService(id, name, await cloud.updateServiceState(id, { command: 'stop' })),
  settled: settledInState({
    ends: ['stopped'],
    begun: ['stopping'],
    open: ['running', 'idle', 'partially_running', 'degraded'],
  }),
  undo: ({ id }) => ({ label: 'Start it again', line: `service start ${id}` }),
  outcome: { done: 'stopped', accepted: 'is stopping' },
  endingNote: 'This can take minutes.',
  unfollowedNote: UNFOLLOWED,
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
