import { z } from 'zod';
import type { Json } from '../changes/change.ts';
import { serviceTarget } from '../directory/directory.ts';
import type { Cell } from '../intent/answers/answer.ts';
import { ServiceName } from '../intent/arguments/arguments.ts';
import { queryCommand } from '../intent/define.ts';

export const serviceShow = queryCommand({
  name: 'service show',
  summary: 'Show what Signalbox knows about a service',
  examples: ['service show analytics-prod'],
  args: z.strictObject({ service: ServiceName }),

  target: ({ service }) => serviceTarget(service),
  answer: ({ service }) => ({
    title: service.name,
    parts: [
      {
        kind: 'facts',
        facts: [
          ['Id', service.id],
          ['Tags', service.tags?.join(', ') || null],
          ['Warehouse', service.warehouse],
          ['Pipes', service.pipes.map(({ name }) => name).join(', ') || null],
          ['Source', service.source],
          ...Object.entries(service.lastSeen?.fields ?? {}).map(fact),
          ['Last seen', service.lastSeen?.seenAt ?? null],
          ['Seen in', service.lastSeen?.source ?? null],
        ],
      },
      {
        kind: 'offers',
        offers: [
          { label: 'Stop…', line: `service stop ${service.id}` },
          { label: 'Start…', line: `service start ${service.id}` },
        ],
      },
    ],
  }),
});

function shown(value: Json): Cell {
  if (typeof value === 'string' || typeof value === 'number') return value;
  return Array.isArray(value) ? value.map(String).join(', ') : JSON.stringify(value);
}

function fact([name, value]: [string, Json]): readonly [string, Cell] {
  const words = name.replace(/([A-Z])/g, ' $1').toLowerCase();
  const label = words.charAt(0).toUpperCase() + words.slice(1);
  return [label, shown(value)];
}
