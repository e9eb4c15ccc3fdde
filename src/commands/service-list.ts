import { z } from 'zod';
import type { AnswerPart, Cell, CommandOffer } from '../domain/answer.ts';
import { countWords } from '../domain/answer.ts';
import type { Service } from '../domain/targets.ts';
import { queryCommand } from '../intent/define.ts';
import type { CommandContext } from '../intent/ports/command-context.ts';

type ListRead = Awaited<ReturnType<CommandContext['reads']['cloud']['services']>>;

export const serviceList = queryCommand({
  name: 'service list',
  title: 'List services',
  summary: 'List the services and their last known state',
  examples: ['service list'],
  args: z.strictObject({}),

  target: () => null,
  answer: async (_args, { services, reads }) => {
    const list = await reads.cloud.services({ waiting: true });
    return {
      title: countWords(services.length, 'service'),
      parts: [
        {
          kind: 'table',
          columns: ['Service', 'Id', 'Tags', 'Warehouse', 'Last state', 'Last seen'],
          rows: services.map((service) => row(service, list)),
        },
        { kind: 'menu', label: 'Show a service…', offers: services.map(offerOf) },
        sourceNote(list),
      ],
    };
  },
});

function offerOf({ id, name }: Service): CommandOffer {
  return { label: name, line: `service show ${id}` };
}

function row(service: Service, list: ListRead): readonly Cell[] {
  const { id, name, lastSeen } = service;
  const { tags, warehouse } = placeOf(service);
  const now = list.known ? list.value.find((one) => one.id === id) : undefined;
  const state = now?.state ?? lastSeen?.fields.state;
  const reported = typeof state === 'string' ? state : null;
  const seenAt = list.known && now ? list.readAt : (lastSeen?.seenAt ?? null);
  return [name, id.slice(0, 8), tags, warehouse, reported, seenAt];
}

/** What the file says about a service, or the server about one that the file does not list. */
function placeOf({ tags, warehouse, discovered, source }: Service) {
  if (!discovered?.tags) {
    return { tags: (tags?.join(', ') ?? `not listed (${source})`) || null, warehouse };
  }
  const own = ['not listed', ...discovered.tags].join(', ');
  return { tags: own, warehouse: discovered.warehouse };
}

function sourceNote(list: ListRead): AnswerPart {
  if (list.known) {
    const text = 'Tags of services that are not listed are those of the server.';
    return { kind: 'note', text, asOf: list.readAt };
  }
  const text =
    list.gap === 'off'
      ? 'The API has no service list. These are the values of its latest replies.'
      : `The list of services is unknown: ${list.why}. These are the values of the latest replies.`;
  return { kind: 'note', text };
}
