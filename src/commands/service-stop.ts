import { z } from 'zod';
import type { Snapshot } from '../changes/change.ts';
import { serviceTarget } from '../directory/directory.ts';
import { ServiceName } from '../intent/arguments/arguments.ts';
import { sentService } from '../intent/arguments/sent-body.ts';
import { changeCommand } from '../intent/define.ts';

export const serviceStop = changeCommand({
  name: 'service stop',
  summary: 'Stop a service',
  examples: ['service stop analytics-prod nightly maintenance'],
  args: z.strictObject({ service: ServiceName }),
  call: 'PATCH state',
  callClass: 'patch',
  timed: 'start and back',
  effect: 'stop',

  target: ({ service }) => serviceTarget(service),
  observe: ({ service }) => service.lastSeen,
  desired: () => ({ command: 'stop' }),
  warnings: ({ service }, before) => [
    'Queries and pipes of this service stop with it.',
    ...primaryWarning(before),
    ...(service.lastSeen ? [] : ['Its condition is not known: nothing has been seen of it yet.']),
  ],
  send: async ({ id, name }, _body, { cloud }) =>
    sentService(id, name, await cloud.updateServiceState(id, { command: 'stop' })),
  undo: ({ id }) => ({ label: 'Start it again', line: `service start ${id}` }),
  endingNote: 'It can take minutes; this API cannot tell when it is done.',
});

function primaryWarning(before: Snapshot | null): readonly string[] {
  if (before?.fields.isPrimary !== true) return [];
  return ['It was the primary of its warehouse: with secondaries running, the server refuses.'];
}
