import { z } from 'zod';
import type { Snapshot } from '../changes/change.ts';
import { PROFILES, REGIONS_OF } from '../cloud/choices.ts';
import {
  ComplianceType,
  EndpointSwitch,
  NewServiceName,
  Provider,
  Region,
  ReleaseChannel,
  ServiceProfile,
  Switch,
} from '../cloud/fields.ts';
import { firstServiceProblems, organizationProblems } from '../cloud/rules.ts';
import { ServiceCreation } from '../cloud/schema.ts';
import { AccessList, opensToTheWorld } from '../intent/arguments/access-list.ts';
import {
  choiceField,
  type FieldContext,
  linesField,
  required,
  switchField,
  textField,
} from '../intent/arguments/arguments.ts';
import { sentCreation } from '../intent/arguments/sent-body.ts';
import { ceilingProblems, SIZING, sizingApplies } from '../intent/arguments/sizing.ts';
import { bodyOf, inSendOrder, wireProblems } from '../intent/arguments/wire.ts';
import { changeCommand } from '../intent/define.ts';

const Text = z.string().trim().min(1, 'must not be empty').max(200, 'is too long');
const BackupId = z.guid('must be the id of a backup, from the console');

/** `mysql on`, one a line. */
const Endpoints = z.array(
  z
    .string()
    .regex(/^[a-z]+\s+(on|off)$/i, 'must be lines such as “mysql on”')
    .transform((line) => {
      const [protocol = '', state] = line.toLowerCase().split(/\s+/);
      return { protocol, enabled: state === 'on' };
    })
    .pipe(EndpointSwitch),
);

const args = z.strictObject({
  name: required(textField(NewServiceName, { label: 'Name', hint: 'Letters, digits and spaces' })),
  provider: required(
    choiceField(Provider, () => Provider.options, {
      word: 'provider',
      label: 'Provider',
      redraws: true,
    }),
  ),
  region: required(choiceField(Region, regionsOf, { word: 'region', label: 'Region' })),
  ipAccessList: required(
    linesField(AccessList, {
      word: 'ip',
      label: 'Addresses that may connect',
      hint: 'One a line: 10.0.0.0/8 and, behind it, what it is',
    }),
  ),
  ...SIZING,
  dataWarehouseId: textField(Text, {
    word: 'warehouse',
    label: 'Existing warehouse (id)',
    hint: 'Empty for a new warehouse; press Enter to see what goes with it',
    redraws: true,
  }),
  isReadonly: switchField(Switch, { word: 'readonly', label: 'Read-only' }),
  backupId: textField(BackupId, { word: 'backup', label: 'Start from a backup (id)' }),
  releaseChannel: choiceField(ReleaseChannel, () => ReleaseChannel.options, {
    word: 'release-channel',
    label: 'Release channel',
  }),
  endpoints: linesField(Endpoints, {
    word: 'endpoints',
    label: 'Protocols',
    hint: 'One a line, such as: mysql on',
  }),
  byocId: textField(Text, {
    word: 'byoc',
    label: 'Own cloud region (id)',
    hint: 'Needs both memory bounds, each 48, 116, 172 or 232; press Enter to see them',
    redraws: true,
  }),
  profile: choiceField(ServiceProfile, () => PROFILES, { word: 'profile', label: 'Profile' }),
  complianceType: choiceField(ComplianceType, () => ComplianceType.options, {
    word: 'compliance',
    label: 'Compliance',
  }),
  hasTransparentDataEncryption: switchField(Switch, {
    word: 'tde',
    label: 'Transparent data encryption',
    hint: 'Only now: it cannot be switched on later',
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
});

export const serviceCreate = changeCommand({
  name: 'service create',
  summary: 'Create a service',
  examples: [
    'service create "analytics eu" provider=aws region=eu-west-1 ip=10.0.0.0/8 min=16 max=64',
  ],
  args,
  hasField: applies,
  call: 'POST services',
  callClass: 'post',
  timed: 'start',
  effect: 'create',
  hasSecret: true,

  target: ({ name }) => ({
    kind: 'new service',
    id: name.toLowerCase(),
    name,
    tags: [],
    warehouse: null,
  }),
  observe: () => null,
  desired: (args) => inSendOrder(ServiceCreation, bodyOf(args)),
  problems: (args, _before, { organization, openToTheWorld }) => {
    const body = bodyOf(args);
    const whole = wireProblems(ServiceCreation, body);
    if (whole.length > 0) return whole;
    const creation = ServiceCreation.parse(body);
    const open = openToTheWorld ? [] : opensToTheWorld(args.ipAccessList);
    return [
      ...organizationProblems(creation, organization),
      ...ceilingProblems(creation, organization),
      ...firstServiceProblems(creation, organization),
      ...open,
    ];
  },
  warnings: (args, _before: Snapshot | null, { services }) => {
    const same = services.some(({ name }) => name.toLowerCase() === args.name.toLowerCase());
    const warnings: readonly (readonly [boolean, string])[] = [
      [same, 'A service of this name is known already.'],
      [true, 'It is billed from the start. Look in the console first: this API has no list.'],
      [args.backupId !== undefined, FROM_BACKUP],
      [args.numReplicas === 1, 'One replica: there is none to take over.'],
      [args.idleScaling === false, 'Without idling it runs, and costs, all the time.'],
      [opensToTheWorld(args.ipAccessList).length > 0, 'Every address in the world may connect.'],
    ];
    return warnings.flatMap(([applies, words]) => (applies ? [words] : []));
  },
  send: async (_target, body, { cloud }) =>
    sentCreation(await cloud.createService(ServiceCreation.parse(body)), body),
  undo: () => null,
  endingNote: 'It is being set up; this API cannot tell when it is ready.',
});

const FROM_BACKUP =
  'Region and tier must be those of the service that the backup is of. It goes into a new warehouse and can take more than 20 minutes.';

function regionsOf({ given }: FieldContext): readonly string[] {
  const provider = Provider.safeParse(given.provider).data;
  return provider ? REGIONS_OF[provider] : [];
}

const ENTERPRISE = [
  'profile',
  'complianceType',
  'hasTransparentDataEncryption',
  'encryptionKey',
  'encryptionAssumedRoleIdentifier',
];

/** Only what fits the provider, the tier and the choices so far. */
function applies(field: string, among: FieldContext): boolean {
  const { given, tier } = among;
  if (ENTERPRISE.includes(field)) return tier === 'enterprise';
  if (field === 'region') return Boolean(given.provider);
  if (field === 'isReadonly') return Boolean(given.dataWarehouseId);
  if (field === 'releaseChannel') return tier !== 'basic';
  return sizingApplies(field, among);
}
