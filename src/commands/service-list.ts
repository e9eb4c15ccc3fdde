import { z } from 'zod';
import type { Service } from '../directory/directory.ts';
import type { Cell } from '../intent/answers/answer.ts';
import { countWords } from '../intent/answers/counted.ts';
import { queryCommand } from '../intent/define.ts';

export const serviceList = queryCommand({
  name: 'service list',
  summary: 'Show the services that can be named, and what was last seen of them',
  examples: ['service list'],
  args: z.strictObject({}),

  target: () => null,
  answer: (_args, { services }) => ({
    title: countWords(services.length, 'service'),
    parts: [
      {
        kind: 'table',
        columns: ['Service', 'Id', 'Tags', 'Warehouse', 'Last reported', 'Seen'],
        rows: services.map(row),
      },
      {
        kind: 'note',
        text: 'The cloud API cannot be asked for a service: this is what its replies last said.',
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
