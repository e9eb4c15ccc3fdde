import { z } from 'zod';
import { type AnswerPart, type Cell, countWords, slashCommand } from '../domain/answer.ts';
import { serviceTarget } from '../domain/targets.ts';
import { wordIn } from '../domain/words.ts';
import type { EndpointReading } from '../servers/cloud-readings.ts';
import {
  EndpointCreation,
  EndpointDescription,
  EndpointType,
  StreamAuthentication,
} from '../servers/cloud-schema.ts';
import { bodyOf, inSendOrder, sentEndpoint, wireProblems } from '../servers/sent.ts';
import { choiceField, type FieldContext, required, ServiceName, textField } from './arguments.ts';
import { changeCommand, queryCommand } from './define.ts';
import { unknownList } from './reported.ts';
import { SETTLED_WHEN_READY } from './settled.ts';

const Text = z.string().trim().min(1, 'must not be empty').max(500, 'is too long');

/** What cannot be edited later has to have the shape that the cloud provider gives it. */
const shaped = (pattern: RegExp, example: string) =>
  Text.regex(pattern, `must look like ${example}`);
const EndpointServiceName = shaped(
  /^(com\.amazonaws\.[\w.-]+|vpce-[\w-]+)$/,
  'com.amazonaws.vpce.eu-central-1.vpce-svc-0a1b2c3d or vpce-svc-0a1b2c3d',
);
const ResourceConfiguration = shaped(/^rcfg-\w+$/, 'rcfg-0a1b2c3d');
const ShareArn = shaped(/^arn:\S+$/, 'arn:aws:ram:eu-central-1:123456789012:…');
const ClusterArn = shaped(/^arn:\S+$/, 'arn:aws:kafka:eu-central-1:123456789012:…');

/** The type for which each field applies. */
const TYPE_OF: Readonly<Record<string, string>> = {
  vpcEndpointServiceName: 'VPC_ENDPOINT_SERVICE',
  vpcResourceConfigurationId: 'VPC_RESOURCE',
  vpcResourceShareArn: 'VPC_RESOURCE',
  streamClusterArn: 'STREAMING_MULTI_VPC',
  streamAuthentication: 'STREAMING_MULTI_VPC',
};

export const endpointCreate = changeCommand({
  name: 'endpoint create',
  title: 'Create an endpoint',
  summary: 'Create a private endpoint',
  examples: [
    'endpoint create analytics-prod type=VPC_ENDPOINT_SERVICE service-name=vpce-svc-0a1b description="orders feed"',
  ],
  permission: 'service:manage-pipes',
  args: z.strictObject({
    service: ServiceName,
    type: required(
      choiceField(EndpointType, () => EndpointType.options, {
        word: 'type',
        label: 'Type',
        redraws: true,
      }),
    ),
    description: required(
      textField(EndpointDescription, { word: 'description', label: 'Description' }),
    ),
    vpcEndpointServiceName: textField(EndpointServiceName, {
      word: 'service-name',
      label: 'Endpoint service name',
    }),
    vpcResourceConfigurationId: textField(ResourceConfiguration, {
      word: 'resource-configuration',
      label: 'Resource configuration (id)',
    }),
    vpcResourceShareArn: textField(ShareArn, {
      word: 'resource-share',
      label: 'Resource share (ARN)',
    }),
    streamClusterArn: textField(ClusterArn, {
      word: 'cluster',
      label: 'Streaming cluster (ARN)',
    }),
    streamAuthentication: choiceField(StreamAuthentication, () => StreamAuthentication.options, {
      word: 'authentication',
      label: 'Authentication',
    }),
  }),
  hasField: (field, { given }: FieldContext) => {
    const type = TYPE_OF[field];
    return type === undefined || type === given.type;
  },
  call: 'POST pipesReversePrivateEndpoints',
  callClass: 'post',
  timed: 'start',

  target: ({ service }) => serviceTarget(service),
  desired: ({ service: _, ...fields }) => inSendOrder(EndpointCreation, bodyOf(fields)),
  problems: ({ service: _, ...fields }) => {
    const values = Object.entries(fields).filter(([, value]) => value !== undefined);
    const given = new Set(values.map(([name]) => name));
    const needed = Object.entries(TYPE_OF).filter(
      ([field, type]) => type === fields.type && !given.has(field),
    );
    const problem = `is required when type is ${fields.type}`;
    return [
      ...wireProblems(EndpointCreation, bodyOf(fields)),
      ...needed.map(([field]) => ({ field, problem })),
    ];
  },
  warnings: () => ["This can't be edited later; check the values."],
  send: async ({ id }, body, { cloud }) =>
    sentEndpoint(await cloud.createReversePrivateEndpoint(id, EndpointCreation.parse(body)), body),
  settled: SETTLED_WHEN_READY,
  undo: () => null,
  outcome: { done: 'created', accepted: 'is being created', reached: 'is ready' },
  endingNote: 'If its status is pending acceptance, accept it in the target cloud account.',
});

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
  return [description, wordIn(status), wordIn(type), endpointId || null, names || null, id];
}
