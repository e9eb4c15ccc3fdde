import { z } from 'zod';
import type { Snapshot } from '../changes/change.ts';
import { serviceTarget } from '../directory/directory.ts';
import { ServiceName } from '../intent/arguments/arguments.ts';
import { sentService } from '../intent/arguments/sent-body.ts';
import { changeCommand } from '../intent/define.ts';
import { settledInState, UNFOLLOWED } from '../intent/settled.ts';

export const serviceStop = changeCommand({
  name: 'service stop',
  summary: 'Stop a service',
  examples: ['service stop analytics-prod nightly maintenance'],
  permission: 'service:manage',
  args: z.strictObject({ service: ServiceName }),
  call: 'PATCH state',
  callClass: 'patch',
  timed: 'start and revert',
  effect: 'stop',

  target: ({ service }) => serviceTarget(service),
  observe: ({ service }) => service.lastSeen,
  desired: () => ({ command: 'stop' }),
  warnings: ({ service }, before) => [
    'Queries and pipes of this service stop.',
    ...primaryWarning(before),
    ...(service.lastSeen
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
  endingNote: 'This can take minutes.',
  unfollowedNote: UNFOLLOWED,
});

function primaryWarning(before: Snapshot | null): readonly string[] {
  if (before?.fields.isPrimary !== true) return [];
  return ['Primary of its warehouse: the server rejects the stop while secondaries run.'];
}
