import { z } from 'zod';
import { bytesText, grouped, millisecondsText } from '../base/text.ts';
import type { Cell } from '../domain/answer.ts';
import { serviceTarget } from '../domain/targets.ts';
import { PipeName, ServiceName } from '../intent/arguments/arguments.ts';
import { queryCommand } from '../intent/define.ts';

export const pipeSettings = queryCommand({
  name: 'pipe settings',
  title: 'Look up pipe settings',
  summary: 'Show the settings of a data pipe',
  examples: ['pipe settings analytics-prod orders'],
  permission: 'service:manage-pipes',
  args: z.strictObject({ service: ServiceName, pipe: PipeName }),

  target: ({ service }) => serviceTarget(service),
  answer: async ({ service, pipe }, { cloud }) => {
    const { result, requestId } = await cloud.getPipeSettings(service.id, pipe.id);
    return {
      title: `Settings of ${pipe.name} in ${service.name}`,
      parts: [
        { kind: 'facts', facts: Object.entries(result).map(setting) },
        { kind: 'note', text: `Request ${requestId ?? 'id unknown'}` },
      ],
    };
  },
});

/** Formats a value by the unit in its name; a value without a unit is shown unchanged. */
function setting([name, value]: [string, unknown]): readonly [string, Cell] {
  return [name.replaceAll('_', ' '), shown(name, value)];
}

function shown(name: string, value: unknown): Cell {
  if (value === null || value === undefined) return 'not set';
  if (typeof value === 'boolean') return value ? 'on' : 'off';
  if (typeof value !== 'number') return typeof value === 'string' ? value : JSON.stringify(value);
  if (name.endsWith('_bytes')) return bytesText(value);
  return name.endsWith('_ms') ? millisecondsText(value) : grouped(value);
}
