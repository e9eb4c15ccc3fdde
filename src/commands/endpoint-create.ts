import { z } from 'zod';
import { serviceTarget } from '../domain/targets.ts';
import {
  choiceField,
  type FieldContext,
  required,
  ServiceName,
  textField,
} from '../intent/arguments/arguments.ts';
import { changeCommand } from '../intent/define.ts';
import { SETTLED_WHEN_READY } from '../intent/settled.ts';
import {
  EndpointCreation,
  EndpointDescription,
  EndpointType,
  StreamAuthentication,
} from '../servers/cloud-schema.ts';
import { bodyOf, inSendOrder, sentEndpoint, wireProblems } from '../servers/sent.ts';

const Text = z.string().trim().min(1, 'must not be empty').max(500, 'is too long');

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
    vpcEndpointServiceName: textField(Text, {
      word: 'service-name',
      label: 'Endpoint service name',
    }),
    vpcResourceConfigurationId: textField(Text, {
      word: 'resource-configuration',
      label: 'Resource configuration (id)',
    }),
    vpcResourceShareArn: textField(Text, { word: 'resource-share', label: 'Resource share (ARN)' }),
    streamClusterArn: textField(Text, { word: 'cluster', label: 'Streaming cluster (ARN)' }),
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
    const noName = fields.type === 'VPC_ENDPOINT_SERVICE' && !fields.vpcEndpointServiceName;
    const problem = 'is required when type is VPC_ENDPOINT_SERVICE';
    return [
      ...wireProblems(EndpointCreation, bodyOf(fields)),
      ...(noName ? [{ field: 'vpcEndpointServiceName', problem }] : []),
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
