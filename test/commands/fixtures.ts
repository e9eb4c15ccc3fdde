import { z } from 'zod';
import { ServiceName } from '../../src/commands/arguments.ts';
import type { ParseResult, Vocabulary } from '../../src/commands/define.ts';
import { type Command, changeCommand } from '../../src/commands/define.ts';
import { parseLine } from '../../src/commands/parse.ts';
import { commands as registry } from '../../src/commands/registry.ts';
import type { InlinePart } from '../../src/domain/answer.ts';
import type { Service } from '../../src/domain/targets.ts';

export const NOON = new Date('2026-11-20T12:00:00.000Z');

export function service(name: string, over: Partial<Service> = {}): Service {
  return {
    id: `id-of-${name}`.replace(/[^\w-]/g, '-'),
    organizationId: 'o1',
    name,
    aliases: [],
    tags: [],
    warehouse: null,
    team: null,
    pipes: [],
    source: 'configuration',
    lastSeen: null,
    ...over,
  };
}

export const ORGANIZATIONS: Vocabulary['organizations'] = [
  { id: 'o1', name: null, plan: 'paid', tier: 'scale' },
];

export const services: readonly Service[] = [
  service('analytics-prod', { aliases: ['prod', 'main db'] }),
  service('analytics-dev'),
  service('staging'),
  service('analytics eu'),
  service('twin', { id: '1-twin' }),
  service('twin', { id: '2-twin' }),
];

const Gigabytes = z.string().regex(/^\d+$/, 'must be a whole number of GB');

/** A command with keys, made for the tests. */
export const serviceTune = changeCommand({
  name: 'service tune',
  program: 'request',
  title: 'Tune a service',
  summary: 'Tune a service',
  examples: ['service tune staging min=16'],
  args: z.strictObject({
    service: ServiceName,
    minReplicaMemoryGb: Gigabytes.optional().meta({ word: 'min', label: 'Minimum memory (GB)' }),
    idleTimeoutMinutes: z.string().optional().meta({ word: 'idle-timeout', label: 'Timeout' }),
    message: z.string().optional().meta({ word: 'message', label: 'Message' }),
  }),
  call: 'PATCH tuning',
  target: ({ service: { id, name, tags, warehouse } }) => ({
    kind: 'service',
    id,
    name,
    tags,
    warehouse,
  }),
  desired: () => ({}),
  warnings: () => [],
  send: async () => ({ requestId: null, reported: [], learned: null }),
  outcome: { done: 'scaled' },
  endingNote: '',
});

const NAMES = ['service list', 'service show', 'service start', 'service stop'];

/** A few commands that stay the same, however many there will be. */
export const commands: readonly Command[] = [
  ...registry.filter(({ name }) => NAMES.includes(name)),
  serviceTune,
];

export function vocabularyOf(known: readonly Service[] = services): Vocabulary {
  return { commands, services: known, alerts: [], organizations: ORGANIZATIONS };
}

/** What is understood of `/service stop analytics-prod`, slash or not. */
export function read(line: string, known: readonly Service[] = services): ParseResult {
  const [, noun = '', rest = ''] = /^\/?(\S+)\s?(.*)$/s.exec(line) ?? [];
  return parseLine(noun, rest, vocabularyOf(known));
}

/** The same in one line: the command with what was given, or the "no" with its offers. */
export function gist(understood: ParseResult): string {
  switch (understood.kind) {
    case 'help':
      return ['help for', understood.noun, understood.about].filter(Boolean).join(' ');
    case 'incomplete':
      return `${understood.command.name} lacks ${understood.missing.map(({ name }) => name)}`;
    case 'misread':
      return [understood.sentence, ...understood.offers.map(({ line }) => `[${line}]`)].join(' ');
    case 'intent': {
      const { command, args, reason } = understood;
      const said = Object.entries(args).map(([name, value]) => `${name}=${nameOf(value)}`);
      return [command.name, ...said, ...(reason === null ? [] : [`because “${reason}”`])].join(' ');
    }
  }
}

function nameOf(value: unknown): string {
  return typeof value === 'object' && value && 'id' in value ? String(value.id) : String(value);
}

/** A line of an answer; a person or a time in it by its value. */
export function plainText(line: readonly InlinePart[]): string {
  return line.map((part) => (typeof part === 'string' ? part : Object.values(part)[0])).join('');
}
