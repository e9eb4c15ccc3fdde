import { z } from 'zod';
import type { JsonObject } from '../../../src/base/text.ts';
import { changeCommand } from '../../../src/commands/define.ts';
import { type ChangeCommand, commands } from '../../../src/commands/index.ts';
import type { Snapshot, Target } from '../../../src/domain/change.ts';
import type { Service } from '../../../src/domain/targets.ts';
import type { Ports } from './ports.ts';
import type { Server } from './server.ts';

/** One command per write method. */
export const KINDS = ['service scale', 'service create', 'alert edit'] as const;
/** The kind that runs by standing approvals; no step asks for it alone. */
export const ALL_KINDS = [...KINDS, 'service stop'] as const;
export type Kind = (typeof ALL_KINDS)[number];

interface Shape {
  readonly method: 'patch' | 'post' | 'put';
  readonly target: Target['kind'];
}

const SHAPES: Readonly<Record<Kind, Shape>> = {
  'service scale': { method: 'patch', target: 'service' },
  'service create': { method: 'post', target: 'new service' },
  'alert edit': { method: 'put', target: 'alert' },
  'service stop': { method: 'patch', target: 'service' },
};

/** A service of the simulation, with the tags of `targetOf`. */
export function serviceNamed(name: string): Service {
  return {
    id: name,
    organizationId: 'o1',
    name,
    aliases: [],
    tags: ['prod'],
    warehouse: null,
    team: null,
    pipes: [],
    source: 'configuration',
    lastSeen: null,
  };
}

/** The services that users of the simulation name. */
export const DIRECTORY = ['staging', 'analytics'].map(serviceNamed);

/** The target of a command kind and a name; equal in all processes. */
export function targetOf(kind: Kind, thing: string): Target {
  const tags = SHAPES[kind].target === 'service' ? ['prod'] : [];
  return { kind: SHAPES[kind].target, id: thing, name: thing, tags, warehouse: null };
}

/** The commands of one process, which send their requests to the simulated server. */
export function commandsOn(ports: Ports, server: Server, now: () => Date) {
  const own = ALL_KINDS.map((kind) => commandOf(kind, { ports, server, now }));
  const allow = commands.filter(({ name }) => name === 'change allow') as readonly ChangeCommand[];
  return new Map([...own, ...allow].map((command) => [command.name, command]));
}

interface Wire {
  readonly ports: Ports;
  readonly server: Server;
  readonly now: () => Date;
}

/** One schema for the commands of all processes: zod compiles each at its first use. */
const ARGS = z.strictObject({ thing: z.string(), mark: z.string() });

function commandOf(kind: Kind, { ports, server, now }: Wire): ChangeCommand {
  const { method } = SHAPES[kind];
  const seen = (id: string): Snapshot => ({
    fields: { edits: server.editsOf(id), shown: server.shownAt(id) },
    seenAt: now(),
    source: 'a read',
  });
  const look = (id: string) => ports.call('read', async () => seen(id));
  return {
    ...changeCommand({
      name: kind,
      program: 'request',
      title: kind,
      summary: kind,
      examples: [],
      args: ARGS,
      call: `${method.toUpperCase()} ${kind}`,
      timed: 'start',
      target: ({ thing }) => targetOf(kind, thing),
      desired: ({ mark }) => ({ mark }),
      rows: () => [],
      warnings: () => [],
      send: ({ id }, body) =>
        ports.call('send', () =>
          server.deliver({ mark: String(body.mark), target: keyOf(kind, id) }),
        ),
      outcome: { done: 'marked' },
      endingNote: '',
    }),
    ...(method === 'put' && readable(kind, look)),
    ...(method === 'patch' && comparable(kind, look)),
  };
}

/** The reads of an alert: for the preview, right before sending, and after a request without an answer. */
function readable(kind: Kind, look: (id: string) => Promise<Snapshot>): Partial<ChangeCommand> {
  return {
    observe: async (args) => ({
      before: await look(keyOf(kind, (args as { thing: string }).thing)),
    }),
    compareBeforeSending: compareBy(kind, look, ({ fields }) => JSON.stringify(fields)),
    verifyOutcome: async ({ id }: Target, body: JsonObject) => {
      const { fields } = await look(keyOf(kind, id));
      if (fields.shown !== body.mark) return null;
      return { requestId: null, reported: ['seen'], learned: null };
    },
  };
}

/** The optional reads of a service: for the preview, and right before sending. */
function comparable(kind: Kind, look: (id: string) => Promise<Snapshot>): Partial<ChangeCommand> {
  return {
    observe: async (args) => {
      const before = await look(keyOf(kind, (args as { thing: string }).thing));
      return { before: { ...before, wasRead: true } };
    },
    compareBeforeSending: compareBy(kind, look, ({ fields }) => String(fields.edits)),
  };
}

function compareBy(
  kind: Kind,
  look: (id: string) => Promise<Snapshot>,
  shown: (snapshot: Snapshot) => string,
): NonNullable<ChangeCommand['compareBeforeSending']> {
  return async ({ target, before }) => {
    const is = shown(await look(keyOf(kind, target.id)));
    const was = before ? shown(before) : '';
    if (was === is) return { kind: 'same' };
    return { kind: 'differs', differences: [{ label: 'Edits', was, is }] };
  };
}

/** The name of the target at the server. */
export function keyOf(kind: Kind, thing: string): string {
  return `${SHAPES[kind].target}:${thing}`;
}
