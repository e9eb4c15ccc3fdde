import { z } from 'zod';
import { bytesText, grouped, spanText } from '../base/text.ts';
import { type Answer, type Cell, countWords, slashCommand } from '../domain/answer.ts';
import { menuReference, type Service } from '../domain/targets.ts';
import { plainWords, wordIn } from '../domain/words.ts';
import type { PipeReading } from '../servers/cloud-readings.ts';
import { PipeSettings } from '../servers/cloud-replies.ts';
import { commandLine, PipeName, ServiceName } from './arguments.ts';
import { queryCommand } from './define.ts';
import { unknownList } from './reported.ts';

export const pipeSettings = queryCommand({
  name: 'pipe settings',
  program: 'read',
  title: 'Look up pipe settings',
  summary: 'Show the settings of a data pipe',
  examples: ['pipe settings analytics-prod orders'],
  permission: 'service:manage-pipes',
  args: z.strictObject({ service: ServiceName, pipe: PipeName }),

  answer: async ({ service, pipe }, { cloud }) => {
    const { result, requestId } = await cloud.getPipeSettings(service.id, pipe.id);
    const names = new Set([...Object.keys(PipeSettings.shape), ...Object.keys(result)]);
    return {
      title: `Settings of ${pipe.name} in ${service.name}`,
      parts: [
        {
          kind: 'facts',
          facts: [...names].map((name) => [plainWords(name), shown(name, result[name])]),
        },
        { kind: 'note', text: `Request ${requestId ?? 'id unknown'}` },
      ],
    };
  },
});

/** A value by the unit in its name; without a unit it is shown unchanged. */
function shown(name: string, value: unknown): Cell {
  if (value === undefined) return 'not in the reply';
  if (value === null) return 'not set';
  if (typeof value === 'boolean') return value ? 'on' : 'off';
  if (typeof value !== 'number') return typeof value === 'string' ? value : JSON.stringify(value);
  if (name.endsWith('_bytes')) return bytesText(value);
  if (!name.endsWith('_ms')) return grouped(value);
  return value < 1_000 ? `${value} ms` : `${spanText(value)} (${grouped(value)} ms)`;
}

export const pipeList = queryCommand({
  name: 'pipe list',
  program: 'read',
  title: 'List pipes',
  summary: 'List the data pipes of a service',
  examples: ['pipe list analytics-prod'],
  permission: 'service:manage-pipes',
  args: z.strictObject({ service: ServiceName }),

  answer: async ({ service }, context) => {
    const read = await context.reads.cloud.pipes(service.id, { waiting: true });
    if (read.known) return listAnswer(service, read.value, read.readAt, context.services);
    const settings = slashCommand(context.prefix, `pipe settings ${service.name} <pipe>`);
    const names = service.pipes.map(({ name }) => name).join(', ');
    return unknownList({
      title: `Pipes of ${service.name}`,
      read,
      instead: [
        ...(names === '' ? [] : [`signalbox.yaml lists: ${names}.`]),
        `${settings} works with a name of signalbox.yaml or an id from the console.`,
      ],
      offers: service.pipes.map(({ id, name }) => ({
        label: `Settings of ${name}`,
        line: `pipe settings ${service.id} ${id}`,
      })),
    });
  },
});

const COLUMNS = ['Pipe', 'State', 'Source', 'Id'];

function listAnswer(
  service: Service,
  pipes: readonly PipeReading[],
  readAt: Date,
  services: readonly Service[],
): Answer {
  const reference = menuReference(service, services);
  const running = pipes.filter(({ state }) => state === 'Running').length;
  const gone = service.pipes.filter(({ id }) => pipes.every((pipe) => pipe.id !== id));
  const offers = pipes.map((pipe) => ({
    label: nameOf(service, pipe),
    line: commandLine(pipeSettings, { service: reference, pipe: pipe.id }, ''),
  }));
  return {
    title:
      pipes.length === 0
        ? `${service.name} has no pipes`
        : `${countWords(pipes.length, 'pipe')} of ${service.name}, ${running} running`,
    parts: [
      {
        kind: 'table',
        columns: COLUMNS,
        rows: [
          ...pipes.map((pipe) => row(service, pipe)),
          ...gone.map(({ id, name }) => [name, 'not on the server', null, id]),
        ],
      },
      { kind: 'menu', label: 'Show settings…', offers },
      { kind: 'note', text: '', asOf: readAt },
    ],
  };
}

/** The name that users type: the configured one wins. */
function nameOf({ pipes }: Service, { id, name }: PipeReading): string {
  return pipes.find((pipe) => pipe.id === id)?.name ?? name ?? id;
}

function row(service: Service, pipe: PipeReading): readonly Cell[] {
  const source = [pipe.source?.family, pipe.source?.type].filter(Boolean).join(', ');
  return [nameOf(service, pipe), wordIn(pipe.state), source || null, pipe.id];
}
