import { z } from 'zod';
import type { FieldProblem } from '../base/errors.ts';
import { oneLineOf } from '../domain/answer.ts';
import {
  newServiceTags,
  type Service,
  servicesInWarehouse,
  warehouseIdOf,
} from '../domain/targets.ts';
import { PROFILES, REGIONS_OF, TIERS } from '../servers/accepted-values.ts';
import {
  ComplianceType,
  EndpointSwitch,
  NewServiceName,
  organizationProblems,
  Provider,
  Region,
  ReleaseChannel,
  ServiceCreation,
  ServiceProfile,
  ServiceTier,
  Switch,
  TotalMemoryGb,
} from '../servers/cloud-schema.ts';
import { bodyOf, inSendOrder, sentCreation, wireProblems } from '../servers/sent.ts';
import { acceptanceWarnings } from './accepted.ts';
import {
  choiceField,
  enumField,
  type FieldContext,
  fieldsOf,
  linesField,
  numberField,
  required,
  switchField,
  type TypedValues,
  textField,
} from './arguments.ts';
import { type CommandContext, changeCommand, type Phrase, type PhraseState } from './define.ts';
import { ceilingProblems, SIZING, sizePhrase, sizingApplies } from './service-scale.ts';
import { settledInState } from './settled.ts';

const Text = z.string().trim().min(1, 'must not be empty').max(200, 'is too long');
const BackupId = z.guid('must be a backup id from the console');

/** One per line: `mysql on`. The API lists no protocols, so a name keeps its letters. */
const Endpoints = z.array(
  z
    .string()
    .regex(/^\S+\s+(on|off)$/i, 'must have one protocol per line, for example “mysql on”')
    .transform((line) => {
      const [protocol = '', state] = line.split(/\s+/);
      return { protocol, enabled: /on/i.test(state ?? '') };
    })
    .pipe(EndpointSwitch),
);

const Source = z.union([z.cidrv4(), z.cidrv6(), z.ipv4(), z.ipv6()]);

/** `10.0.0.0/8 office` → source and description; at least one, else no client could connect. */
const AccessList = z
  .array(z.string(), { error: 'must hold one address per line, for example 10.0.0.0/8' })
  .min(1, 'needs at least one address, for example 10.0.0.0/8')
  .max(100, 'can have at most 100 addresses')
  .superRefine((lines, context) => {
    const isAddress = (line: string) => Source.safeParse(line.trim().split(/\s+/)[0]).success;
    const wrong = lines.flatMap((line, index) =>
      isAddress(line) ? [] : [`“${oneLineOf(line, 40)}” in line ${index + 1}`],
    );
    if (wrong.length === 0) return;
    const message = `must hold one address per line, for example 10.0.0.0/8, not ${wrong.slice(0, 5).join(', ')}`;
    context.addIssue({ code: 'custom', message });
  })
  .transform((lines) =>
    lines.map((line) => {
      const [source = '', ...words] = line.trim().split(/\s+/);
      return { source, description: words.join(' ') };
    }),
  );

const CLOUDS = [
  ['aws', /amazon|aws/i],
  ['gcp', /google|gcp/i],
  ['azure', /microsoft|azure/i],
] as const;

/** The regions that people call by their place. */
const PLACES = [
  ['eu-central-1', /frankfurt|germany/i],
  ['eu-west-1', /ireland|dublin/i],
  ['eu-west-2', /london/i],
  ['us-east-1', /virginia/i],
  ['us-east-2', /ohio/i],
  ['us-west-2', /oregon/i],
  ['ap-south-1', /mumbai/i],
  ['ap-southeast-1', /singapore/i],
  ['ap-southeast-2', /sydney/i],
  ['ap-northeast-1', /tokyo|japan/i],
  ['europe-west4', /netherlands|eemshaven/i],
] as const;

const idsIn = (table: readonly (readonly [string, RegExp])[]) => (typed: string) =>
  table.filter(([, pattern]) => pattern.test(typed)).map(([id]) => id);

/** A region without its key: `in eu-central-1`. It has one provider. */
function regionPhrase(words: readonly string[], { given }: PhraseState): Phrase | null {
  const joint = /^(in|at)$/i.test(words[0] ?? '') ? 1 : 0;
  const region = words[joint]?.toLowerCase() ?? '';
  const [provider] =
    Object.entries(REGIONS_OF).find(([, { contract, live }]) =>
      [...contract, ...live].some((one) => one === region),
    ) ?? [];
  if (given.region !== undefined || provider === undefined) return null;
  return { taken: joint + 1, given: { region, ...(given.provider === undefined && { provider }) } };
}

/** A number without its unit can belong to the name. */
const UNIT = /^(\d+ ?(-|to) ?)?\d+ ?(gi?b|gigs?|gigabytes?)\b/i;

/** Still accepted by the API, and never offered: an empty form has no input for it. */
function deprecated(word: string, label: string) {
  return { word, label: `${label} (deprecated)`, typedOnly: true } as const;
}

const args = z.strictObject({
  name: required(
    textField(NewServiceName, {
      label: 'Name',
      hint: 'Letters, digits and spaces',
      severalWords: true,
    }),
  ),
  organization: choiceField(z.string(), ({ organizations }) => organizations, {
    word: 'organization',
    label: 'Organization',
    redraws: true,
  }),
  provider: required(
    enumField(Provider, {
      word: 'provider',
      group: 'Where',
      suggestions: idsIn(CLOUDS),
      label: 'Provider',
      redraws: true,
    }),
  ),
  region: required(
    choiceField(Region, regionsOf, {
      word: 'region',
      label: 'Region',
      suggestions: idsIn(PLACES),
      mustBe: ({ given }) => `must be a region of ${given.provider}`,
    }),
  ),
  ipAccessList: required(
    linesField(AccessList, {
      word: 'ip',
      label: 'Allowed addresses',
      hint: 'One CIDR per line, optionally followed by a description: 10.0.0.0/8 office',
    }),
  ),
  ...SIZING,
  minReplicaMemoryGb: SIZING.minReplicaMemoryGb.meta({
    ...SIZING.minReplicaMemoryGb.meta(),
    group: 'Size',
  }),
  dataWarehouseId: textField(Text, {
    group: 'More options',
    word: 'warehouse',
    label: 'Existing warehouse (id)',
    hint: 'Leave empty for a new warehouse',
    lists: 'data warehouse',
    redraws: true,
  }),
  isReadonly: switchField(Switch, { word: 'readonly', label: 'Read-only' }),
  backupId: textField(BackupId, {
    word: 'backup',
    label: 'Start from a backup (id)',
    pickHint: 'Type the name of a service to find its backups',
    redraws: true,
    lists: 'backup',
  }),
  releaseChannel: enumField(ReleaseChannel, { word: 'release-channel', label: 'Release channel' }),
  endpoints: linesField(Endpoints, {
    word: 'endpoints',
    label: 'Protocols',
    hint: 'One per line, for example mysql on',
  }),
  byocId: textField(Text, {
    word: 'byoc',
    label: 'Own cloud region (id)',
    hint: 'Needs both memory bounds: 48, 116, 172 or 232',
    redraws: true,
  }),
  profile: choiceField(ServiceProfile, () => PROFILES.contract, {
    word: 'profile',
    label: 'Profile',
  }),
  complianceType: enumField(ComplianceType, { word: 'compliance', label: 'Compliance' }),
  hasTransparentDataEncryption: switchField(Switch, {
    word: 'tde',
    label: 'Transparent data encryption',
    hint: 'Only at creation: it cannot be turned on later',
  }),
  encryptionKey: textField(Text, { word: 'encryption-key', label: 'Encryption key (reference)' }),
  encryptionAssumedRoleIdentifier: textField(Text, {
    word: 'encryption-role',
    label: 'Role for disk encryption',
  }),
  privatePreviewTermsChecked: switchField(Switch, {
    word: 'preview-terms',
    label: 'Accept the terms of a private preview',
  }),
  tier: choiceField(ServiceTier, () => TIERS, deprecated('tier', 'Tier')),
  minTotalMemoryGb: numberField(TotalMemoryGb, deprecated('min-total', 'Minimum total memory')),
  maxTotalMemoryGb: numberField(TotalMemoryGb, deprecated('max-total', 'Maximum total memory')),
  privateEndpointIds: linesField(z.array(Text), deprecated('private-endpoints', 'Endpoint ids')),
});
const DEPRECATED = fieldsOf(args).filter(({ typedOnly }) => typedOnly);

export const serviceCreate = changeCommand({
  name: 'service create',
  program: 'request',
  title: 'Create a service',
  summary: 'Create a service',
  examples: [
    'service create "analytics eu" provider=aws region=eu-west-1 ip=10.0.0.0/8 min=16 max=64',
  ],
  permission: 'organization:create-service',
  args,
  hasField: applies,
  isRequired: (field, { given }) =>
    field === 'organization' || (Boolean(given.byocId) && /^m(in|ax)ReplicaMemoryGb$/.test(field)),
  defaults: usualValues,
  phrase: (words, so) =>
    regionPhrase(words, so) ??
    (UNIT.test(words.slice(0, 4).join(' ')) ? sizePhrase(words, so) : null),
  call: 'POST services',
  timed: 'start',
  effect: 'create',
  hasSecret: true,

  resolveArguments: async (args, context) => {
    const { dataWarehouseId: typed } = args;
    if (typed === undefined || z.guid().safeParse(typed).success) return { ok: true, args };
    const { organization, services } = placeOf(args, context);
    const how = { waiting: true, organization: organization.id };
    const read = await context.reads.cloud.services(how);
    const listed = read.known ? read.value : [];
    const found = warehouseId(typed, services, listed);
    if ('id' in found) return { ok: true, args: { ...args, dataWarehouseId: found.id } };
    return { ok: false, problems: [{ field: 'dataWarehouseId', problem: found.problem }] };
  },
  target: (args, context) => {
    const { name, dataWarehouseId } = args;
    const { organization, services } = placeOf(args, context);
    const { id, name: own } = organization;
    const facts = newServiceTags(dataWarehouseId, services);
    const target = { kind: 'new service', id: name.toLowerCase(), ...facts } as const;
    return args.organization === undefined || own === null
      ? { ...target, name }
      : { ...target, name: `${own}/${name}`, organization: { id, name: own } };
  },
  desired: (args) => inSendOrder(ServiceCreation, creationOf(args)),
  problems: (args, _before, context) => {
    const { organization } = placeOf(args, context);
    const body = creationOf(args);
    const whole = wireProblems(ServiceCreation, body);
    if (whole.length > 0) return whole;
    const creation = ServiceCreation.parse(body);
    const open = context.openToTheWorld ? [] : opensToTheWorld(args.ipAccessList);
    return [
      ...organizationProblems(creation, organization),
      ...ceilingProblems(creation, organization),
      ...open,
    ];
  },
  warnings: (args, _before, context) => {
    const { services, organization } = placeOf(args, context);
    const { tier } = organization;
    const wanted = args.name.toLowerCase();
    const same = services.some(({ name, aliases }) =>
      [name, ...aliases].some((one) => one.toLowerCase() === wanted),
    );
    const body = creationOf(args);
    const old = DEPRECATED.filter(({ name }) => name in body).map(({ word }) => word);
    const warnings: readonly (readonly [boolean, string])[] = [
      [same, 'A service with this name already exists.'],
      [true, 'Billing starts immediately. Check that it does not exist yet.'],
      [args.backupId !== undefined, FROM_BACKUP],
      [old.length > 0, `Deprecated, though the API still accepts it: ${old.join(', ')}.`],
      [args.numReplicas === 1, 'One replica: there is no failover.'],
      [
        args.numReplicas === 1 && args.dataWarehouseId === undefined && tier !== 'basic',
        'Some servers reject one replica for the first service of a warehouse.',
      ],
      [
        args.idleScaling === false,
        'Without idling, the service runs and costs credits all the time.',
      ],
      [
        opensToTheWorld(args.ipAccessList).length > 0,
        'All addresses, or a large part of them, may connect.',
      ],
    ];
    return [
      ...acceptanceWarnings('create service', body),
      ...warnings.flatMap(([applies, words]) => (applies ? [words] : [])),
    ];
  },
  send: async (_target, body, { cloud }) =>
    sentCreation(await cloud.createService(ServiceCreation.parse(body)), body),
  activities: ['service_create', 'service_start', 'service_update_ip_access_list'],
  settled: settledInState({ ends: ['running', 'idle'] }),
  outcome: { done: 'created', accepted: 'is being created' },
  endingNote: 'Setup is in progress.',
  unfollowedNote: 'This API does not report when the service is ready.',
});

/** The organization of a creation, and the services in it. */
function placeOf(
  { organization: name }: { readonly organization?: string | undefined },
  { organizations, services }: Pick<CommandContext, 'organizations' | 'services'>,
) {
  const organization = organizations.find((each) => each.name === name) ?? organizations[0];
  const own = services.filter(({ organizationId }) => organizationId === organization.id);
  return { organization, services: own };
}

/** The request names its organization by its path. */
function creationOf({ organization: _, ...fields }: Readonly<Record<string, unknown>>) {
  return bodyOf(fields);
}

/** Cards show the name of a warehouse, and the server takes its id only. */
function warehouseId(
  typed: string,
  services: readonly Service[],
  listed: readonly { readonly id: string; readonly dataWarehouseId: string | null }[],
) {
  const own = servicesInWarehouse(typed, services);
  if (own.length === 0) {
    const names = [...new Set(services.flatMap(({ warehouse }) => warehouse ?? []))].sort();
    return { problem: `must be a warehouse of signalbox.yaml (${names.join(', ')}) or an id` };
  }
  const current = new Map(listed.map((each) => [each.id, each.dataWarehouseId]));
  const ids = own.flatMap(
    (each) => current.get(each.id)?.toLowerCase() ?? warehouseIdOf(each) ?? [],
  );
  const [id, ...others] = new Set(ids);
  if (id !== undefined && others.length === 0) return { id };
  return { problem: `must be the id of “${typed}”: the server did not report it` };
}

const WIDEST = { v4: 8, v6: 16 } as const;

/**
 * Returns a problem for each range wider than /8 (IPv6: /16). Two halves would allow all addresses;
 * with this limit, 100 ranges cover only a part of them.
 */
function opensToTheWorld(list: z.output<typeof AccessList>): readonly FieldProblem[] {
  const open = list.filter(({ source }) => {
    const [address = '', length] = source.split('/');
    const widest = address.includes(':') ? WIDEST.v6 : WIDEST.v4;
    return length !== undefined && Number(length) < widest;
  });
  return open.map(({ source }) => ({
    field: 'ipAccessList',
    problem: `must not allow all addresses, or a large part of them, (${source})`,
  }));
}

const FROM_BACKUP =
  'Region and tier must match the service of the backup (tier= sets the tier). The restore creates a new warehouse and can take more than 20 minutes.';

/** The regions of the contract, and a typed region that only live servers have. */
function regionsOf({ given }: FieldContext): readonly string[] {
  const provider = Provider.safeParse(given.provider).data;
  if (!provider) return [];
  const { contract, live } = REGIONS_OF[provider];
  const typed = live.filter((region) => region === given.region);
  return [...new Set([...contract, ...typed])];
}

/** A size as the API documents it, and the place of most other services where it is known. */
function usualValues({ given, tier }: FieldContext, services: readonly Service[]): TypedValues {
  const seen = services.flatMap(({ lastSeen }) => (lastSeen ? [lastSeen.fields] : []));
  const places = seen.map(({ provider, region }) => JSON.stringify({ provider, region }));
  const count = (place: string) => places.filter((one) => one === place).length;
  const [most] = places.toSorted((one, other) => count(other) - count(one));
  const place = most === undefined || given.provider || given.region ? {} : JSON.parse(most);
  const size = { minReplicaMemoryGb: '8', maxReplicaMemoryGb: '32' };
  return {
    ...place,
    ...(given.byocId || given.minReplicaMemoryGb || given.maxReplicaMemoryGb ? {} : size),
    numReplicas: tier === 'basic' ? '1' : '3',
    idleScaling: 'on',
    ...(given.idleScaling ? {} : { idleTimeoutMinutes: '15' }),
  };
}

const ENTERPRISE = ['profile', 'hasTransparentDataEncryption'];

/** Whether a field applies to the provider, the tier and the other values. */
function applies(field: string, among: FieldContext): boolean {
  const { given, tier, organizations } = among;
  if (field === 'organization') return organizations.length > 0;
  if (ENTERPRISE.includes(field)) return tier === 'enterprise';
  if (field === 'region') return Boolean(given.provider);
  if (field === 'isReadonly') return Boolean(given.dataWarehouseId);
  return sizingApplies(field, among);
}
