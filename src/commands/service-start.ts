import { z } from 'zod';
import { serviceTarget } from '../directory/directory.ts';
import { ServiceName } from '../intent/arguments/arguments.ts';
import { sentService } from '../intent/arguments/sent-body.ts';
import { changeCommand } from '../intent/define.ts';

export const serviceStart = changeCommand({
  name: 'service start',
  summary: 'Start a stopped service',
  examples: ['service start analytics-prod maintenance is over'],
  args: z.strictObject({ service: ServiceName }),
  call: 'PATCH state',
  callClass: 'patch',
  timed: 'start and back',
  effect: 'start',

  target: ({ service }) => serviceTarget(service),
  observe: ({ service }) => service.lastSeen,
  desired: () => ({ command: 'start' }),
  warnings: (_args, before) =>
    before?.fields.state === 'idle'
      ? ['It was idle when last seen: it wakes on the next query; start does not wake it.']
      : [],
  send: async ({ id, name }, _body, { cloud }) =>
    sentService(id, name, await cloud.updateServiceState(id, { command: 'start' })),
  undo: ({ id }) => ({ label: 'Stop it again', line: `service stop ${id}` }),
  endingNote: 'It can take minutes; this API cannot tell when it is done.',
});
