import { z } from 'zod';
import { serviceTarget } from '../directory/directory.ts';
import { ServiceName } from '../intent/arguments/arguments.ts';
import { sentService } from '../intent/arguments/sent-body.ts';
import { changeCommand } from '../intent/define.ts';
import { settledInState, UNFOLLOWED } from '../intent/settled.ts';

export const serviceStart = changeCommand({
  name: 'service start',
  summary: 'Start a stopped service',
  examples: ['service start analytics-prod maintenance is over'],
  permission: 'service:manage',
  args: z.strictObject({ service: ServiceName }),
  call: 'PATCH state',
  callClass: 'patch',
  timed: 'start and revert',
  effect: 'start',

  target: ({ service }) => serviceTarget(service),
  observe: ({ service }) => service.lastSeen,
  desired: () => ({ command: 'start' }),
  warnings: (_args, before) =>
    before?.fields.state === 'idle'
      ? ['Idle when last seen: the next query wakes it; a start does not.']
      : [],
  send: async ({ id, name }, _body, { cloud }) =>
    sentService(id, name, await cloud.updateServiceState(id, { command: 'start' })),
  settled: settledInState({
    ends: ['running', 'idle'],
    begun: ['starting', 'awaking', 'provisioning', 'partially_running', 'degraded'],
    open: ['stopped'],
  }),
  undo: ({ id }) => ({ label: 'Stop it again', line: `service stop ${id}` }),
  endingNote: 'This can take minutes.',
  unfollowedNote: UNFOLLOWED,
});
