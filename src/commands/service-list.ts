import { z } from 'zod';
import type { Service } from '../directory/directory.ts';
import type { Cell } from '../intent/answers/answer.ts';
import { countWords } from '../intent/answers/texts.ts';
import { queryCommand } from '../intent/define.ts';

export const serviceList = queryCommand({
  name: 'service list',
  summary: 'List the services and their last known state',
  examples: ['service list'],
  args: z.strictObject({}),

  target: () => null,
  answer: (_args, { services }) => ({
    title: countWords(services.length, 'service'),
    parts: [
      {
        kind: 'table',
        columns: ['Service', 'Id', 'Tags', 'Warehouse', 'Last state', 'Last seen'],
        rows: services.map(row),
      },
      {
        kind: 'note',
        text: 'The API has no service list. These are the values of its latest replies.',
      },
    ],
  }),
});

function row(service: Service): readonly Cell[] {
  const { name, tags, warehouse, lastSeen } = service;
  const state = lastSeen?.fields.state;
  const reported = typeof state === 'string' ? state : null;
  const listed = tags?.join(', ') ?? `not listed (${service.source})`;
  return [
    name,
    service.id.slice(0, 8),
    listed || null,
    warehouse,
    reported,
    lastSeen?.seenAt ?? null,
  ];
}
