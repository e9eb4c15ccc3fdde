import { z } from 'zod';
import { type AnswerPart, type Cell, countWords, slashCommand } from '../domain/answer.ts';
import type { Snapshot } from '../domain/change.ts';
import { type Service, serviceTarget } from '../domain/targets.ts';
import { wordIn } from '../domain/words.ts';
import type { EndpointReading } from '../servers/cloud-readings.ts';
import {
  EndpointCreation,
  EndpointDescription,
  EndpointType,
  StreamAuthentication,
} from '../servers/cloud-schema.ts';
import { bodyOf, inSendOrder, sentEndpoint, wireProblems } from '../servers/sent.ts';
import { enumField, type FieldContext, required, ServiceName, textField } from './arguments.ts';
import { changeCommand, queryCommand } from './define.ts';
import { unknownList } from './reported.ts';
import { observeService } from './service-observe.ts';
import { SETTLED_WHEN_READY } from './settled.ts';

const Text = z.string().trim().min(1, 'must not be empty').max(500, 'is too long');

/** What cannot be edited later must have the shape that the cloud provider gives it, and each wrong part is named. */
const arn = (service: RegExp, resource: RegExp, like: string) =>
  Text.superRefine((text, context) => {
    const place = [/^[a-z]{2}(-[a-z]+)+-\d$/, /^\d{12}$/];
    const shapes = [/^arn$/, /^aws(-[a-z]+)*$/, service, ...place, resource];
    const parts = text.split(':');
    const wrong = parts.filter((part, at) => !shapes[at]?.test(part));
    const named = wrong.length > 2 ? [] : wrong.map((part) => `, not “${part}”`);
    const message = `must look like ${like}${named.join('')}`;
    if (wrong.length > 0 || parts.length < 6) context.addIssue({ code: 'custom', message });
  });
const ShareArn = arn(
  /^ram$/,
  /^resource-share\/[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/,
  'arn:aws:ram:eu-central-1:123456789012:resource-share/<UUID>',
);
const ClusterArn = arn(
  /^kafka$/,
  /^cluster\/[\w-]+\/[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}(-\d+)?$/,
  'arn:aws:kafka:eu-central-1:123456789012:cluster/<name>/<UUID>',
);
const ResourceConfiguration = Text.regex(/^rcfg-[0-9a-f]{8,17}$/, 'must look like rcfg-0a1b2c3d');
const EndpointServiceName = Text.regex(
  /^(com\.amazonaws(\.vpce)?\.[a-z]{2}(-[a-z]+)+-\d\.[\w.-]+|vpce-svc-[0-9a-f]{4,17})$/,
  'must look like com.amazonaws.vpce.eu-central-1.vpce-svc-0a1b2c3d or vpce-svc-0a1b2c3d',
);

/** The region within a name or an ARN; null for a name without one. */
function regionIn(text: string | undefined): string | null {
  return /(?<=[.:])[a-z]{2}(?:-[a-z]+)+-\d(?=[.:])/.exec(text ?? '')?.[0] ?? null;
}

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
  program: 'request',
  title: 'Create an endpoint',
  summary: 'Create a private endpoint',
  examples: [
    'endpoint create analytics-prod type=VPC_ENDPOINT_SERVICE service-name=vpce-svc-0a1b description="orders feed"',
  ],
  permission: 'service:manage-pipes',
  args: z.strictObject({
    service: ServiceName,
    type: required(
      enumField(EndpointType, {
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
    streamClusterArn: textField(ClusterArn, { word: 'cluster', label: 'Streaming cluster (ARN)' }),
    streamAuthentication: enumField(StreamAuthentication, {
      word: 'authentication',
      label: 'Authentication',
    }),
  }),
  hasField: (field, { given }: FieldContext) => {
    const type = TYPE_OF[field];
    return type === undefined || type === given.type;
  },
  // An endpoint of each type needs all its fields.
  isRequired: (field, { given }: FieldContext) => field in TYPE_OF && TYPE_OF[field] === given.type,
  call: 'POST pipesReversePrivateEndpoints',
  timed: 'start',

  target: ({ service }) => serviceTarget(service),
  desired: ({ service: _, ...fields }) => inSendOrder(EndpointCreation, bodyOf(fields)),
  observe: ({ service }, context) => observeService(service, context),
  problems: ({ service, ...fields }, before) => {
    const own = regionOf(service, before);
    const arns = ['vpcResourceShareArn', 'streamClusterArn'] as const;
    const elsewhere = arns.filter((name) => isElsewhere(fields[name], own));
    return [
      ...wireProblems(EndpointCreation, bodyOf(fields)),
      ...elsewhere.map((field) => ({
        field,
        problem: `has the region “${regionIn(fields[field])}”, but ${service.name} runs in ${own}`,
      })),
    ];
  },
  warnings: ({ service, vpcEndpointServiceName: name }, before) => {
    const own = regionOf(service, before);
    const region = regionIn(name);
    return [
      "This can't be edited later; check the values.",
      ...(isElsewhere(name, own)
        ? [`The endpoint service is in ${region}, but ${service.name} runs in ${own}.`]
        : []),
    ];
  },
  send: async ({ id }, body, { cloud }) =>
    sentEndpoint(await cloud.createReversePrivateEndpoint(id, EndpointCreation.parse(body)), body),
  activities: ['service_update_private_endpoints'],
  settled: SETTLED_WHEN_READY,
  outcome: { done: 'created', accepted: 'is being created', reached: 'is ready' },
  endingNote: 'If its status is pending acceptance, accept it in the target cloud account.',
});

/** Null if it is unknown. */
function regionOf({ lastSeen }: Service, before: Snapshot | null): string | null {
  const { region } = (before ?? lastSeen)?.fields ?? {};
  return typeof region === 'string' ? region : null;
}

function isElsewhere(text: string | undefined, own: string | null): boolean {
  const region = regionIn(text);
  return own !== null && region !== null && region !== own;
}

const COLUMNS = ['Description', 'Status', 'Type', 'Endpoint', 'Private DNS names', 'Id'];

export const endpointList = queryCommand({
  name: 'endpoint list',
  program: 'read',
  title: 'List endpoints',
  summary: 'List the private endpoints of a service',
  examples: ['endpoint list analytics-prod'],
  permission: 'service:manage-pipes',
  args: z.strictObject({ service: ServiceName }),

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
