import { z } from 'zod';
import type { AnswerPart, Cell } from '../domain/answer.ts';
import { countWords, slashCommand } from '../domain/answer.ts';
import { serviceTarget } from '../domain/targets.ts';
import { unknownList } from '../intent/answers/unknown-read.ts';
import { ServiceName } from '../intent/arguments/arguments.ts';
import { queryCommand } from '../intent/define.ts';
import type { EndpointReading } from '../servers/cloud-readings.ts';

const COLUMNS = ['Description', 'Status', 'Type', 'Endpoint', 'Private DNS names', 'Id'];

export const endpointList = queryCommand({
  name: 'endpoint list',
  title: 'List endpoints',
  summary: 'List the private endpoints of a service',
  examples: ['endpoint list analytics-prod'],
  permission: 'service:manage-pipes',
  args: z.strictObject({ service: ServiceName }),

  target: ({ service }) => serviceTarget(service),
  answer: async ({ service }, { reads, prefix }) => {
    const read = await reads.cloud.endpoints(service.id, { waiting: true });
    const offers = [{ label: 'Create one…', line: `endpoint create ${service.id}` }];
    if (!read.known) {
      const create = slashCommand(prefix, `endpoint create ${service.name}`);
      return unknownList({
        title: `Private endpoints of ${service.name}`,
        read,
        instead: [`The console lists them. ${create} works.`],
        offers,
      });
    }
    const count = read.value.length;
    return {
      title:
        count === 0
          ? `${service.name} has no private endpoints`
          : `${countWords(count, 'private endpoint')} of ${service.name}`,
      parts: [
        ...acceptance(read.value),
        { kind: 'table', columns: COLUMNS, rows: read.value.map(row) },
        { kind: 'offers', offers },
        { kind: 'note', text: '', asOf: read.readAt },
      ],
    };
  },
});

function acceptance(endpoints: readonly EndpointReading[]): readonly AnswerPart[] {
  const waiting = endpoints.filter(({ status }) => status === 'PendingAcceptance').length;
  if (waiting === 0) return [];
  const one = `${countWords(waiting, 'endpoint waits', 'endpoints wait')} for acceptance.`;
  return [{ kind: 'text', text: `⚠ ${one} Accept it in the target cloud account.` }];
}

function row(endpoint: EndpointReading): readonly Cell[] {
  const { id, description, status, type, endpointId, dnsNames, privateDnsNames } = endpoint;
  const names = [...(privateDnsNames ?? []), ...(dnsNames ?? [])].slice(0, 5).join(', ');
  return [description, status, type, endpointId || null, names || null, id];
}
