// signalbox.yaml: its schema, and what its parts must say together.
import { createHash } from 'node:crypto';
import { dirname, join } from 'node:path';
import { z } from 'zod';
import { type AgentSettings, agentsSchema } from '../agents/config.ts';
import { isRecord } from '../base/http-answer.ts';
import {
  type ConfigProblem,
  type ConfigResult,
  declaredName,
  parseConfig,
  quoted,
  readYaml,
  strictConfigObject,
  withHint,
  withLines,
} from '../base/problem.ts';
import { DAY_MS } from '../base/time.ts';
import { costConfigShape, digestReader } from '../costs/index.ts';
import type { CommandNames, PolicyVocabulary } from '../domain/policy.ts';
import { Allowed, ChannelName, costSelectorSchema, policyShape } from '../domain/policy-schema.ts';
import { type ReadFile, readAs } from './environment.ts';

/** The settings of the file. */
export type FileContent = z.output<ReturnType<typeof fileSchema>> & {
  /** SHA-256 of the file text, to detect a changed configuration. */
  readonly configHash: string;
};

export interface ConfigFileSource {
  readonly path: string;
  readonly readFile: ReadFile;
  /** The names of all commands, against which the policy is checked. */
  readonly commands: CommandNames;
}

/** Reads the file without the other variables. Reports all problems at once. */
export function readConfigFile({
  path,
  readFile,
  commands,
}: ConfigFileSource): ConfigResult<FileContent> {
  const text = textOf(path, readFile);
  if (!text.ok) return text;
  const yaml = readYaml(text.value, path);
  if (!yaml.ok) return yaml;
  const whole = withIncluded({ path, content: yaml.value ?? {} }, readFile);
  if (!whole.ok) return whole;

  const { value, parts } = whole.value;
  const declared = readDeclaredParts(value);
  const content = parseConfig(fileSchema({ ...commands, ...declaredNames(declared) }), value);
  const problems = [
    ...(isRecord(value) ? organizationChoice(declared) : []),
    ...problemsIn(content).map((problem) => ({ ...problem, where: problem.where || path })),
    ...repeatedNames(declared),
    ...cardsWithoutChannel(declared),
  ];
  if (!content.ok || problems.length > 0) {
    return { ok: false, problems: problems.map((problem) => inItsFile(problem, parts)) };
  }
  const configHash = createHash('sha256').update(text.value);
  for (const part of parts) configHash.update(part.text);
  return { ok: true, value: { ...content.value, configHash: configHash.digest('hex') } };
}

/** The names in `organizations`, also of a file with problems; none in the short form. Their keys are named by them. */
export function organizationNames({ path, readFile }: Omit<ConfigFileSource, 'commands'>) {
  const text = textOf(path, readFile);
  const yaml = text.ok ? readYaml(text.value, path) : text;
  const { organizations = [] } = readDeclaredParts(yaml.ok ? yaml.value : null);
  return present(organizations.map(({ name }) => name)).filter((name) => ORGANIZATION.test(name));
}

/** A file whose rules, roles and freezes come before those of the file that includes it. */
interface Part {
  readonly path: string;
  readonly text: string;
  readonly content: Readonly<Record<string, unknown>>;
}

/** What several installations may share. Everything else belongs to one. */
const SHARED_LISTS = ['policy', 'freezes', 'never'] as const;
const SHARED = [...SHARED_LISTS, 'roles'];

/** The file with what it includes, without `include`. */
function withIncluded(
  file: { readonly path: string; readonly content: unknown },
  readFile: ReadFile,
): ConfigResult<{ readonly value: unknown; readonly parts: readonly Part[] }> {
  const { content: own } = file;
  if (!isRecord(own) || own.include === undefined)
    return { ok: true, value: { value: own, parts: [] } };
  const { include, ...rest } = own;
  const names = z.array(z.string().min(1)).min(1).safeParse(include);
  if (!names.success) {
    const hint = 'for example include: [base.yaml]';
    return { ok: false, problems: [problemAt('include', 'must be a list of files', hint)] };
  }
  const read = names.data.map((name) => readPart(join(dirname(file.path), name), readFile));
  const parts = read.flatMap((part) => (part.ok ? [part.value] : []));
  const roles = [...parts.map(({ content }) => content), rest].map(({ roles: each }) =>
    isRecord(each) ? each : {},
  );
  const twice = Object.keys(Object.assign({}, ...roles)).filter(
    (role) => roles.filter((each) => Object.hasOwn(each, role)).length > 1,
  );
  const problems = [
    ...read.flatMap(problemsIn),
    ...twice.map((role) => problemAt(`roles.${role}`, 'is in two files', 'keep one of them')),
  ];
  if (problems.length > 0) return { ok: false, problems };
  const lists = SHARED_LISTS.map((key) => {
    const all = [...parts.map(({ content }) => content), rest].map((content) => content[key] ?? []);
    return [key, all.every(Array.isArray) ? all.flat() : rest[key]] as const;
  });
  const value = { ...rest, ...Object.fromEntries(lists), roles: Object.assign({}, ...roles) };
  return { ok: true, value: { value, parts } };
}

function readPart(path: string, readFile: ReadFile): ConfigResult<Part> {
  const read = readAs(path, readFile, (reason) => ({
    where: 'include',
    problem: `${path} cannot be read (${reason})`,
    hint: 'the path begins at the folder of the file that includes it',
  }));
  if (!read.ok) return read;
  const text = read.value;
  const yaml = readYaml(text, path);
  if (!yaml.ok) return yaml;
  const content = yaml.value ?? {};
  const refuse = (problem: string): ConfigResult<Part> => {
    const hint = `an included file may have ${SHARED.join(', ')}`;
    return { ok: false, problems: [problemAt(`${path}:1`, problem, hint)] };
  };
  if (!isRecord(content)) return refuse('must be a map of keys');
  const foreign = Object.keys(content).find((key) => !SHARED.includes(key));
  if (foreign !== undefined) return refuse(`may not have ${quoted(foreign)}`);
  return { ok: true, value: { path, text, content } };
}

function problemAt(where: string, problem: string, hint: string | null): ConfigProblem {
  return { where, problem, hint };
}

/** Says of a problem in a joined list in which file the item stands, and at which place there. */
function inItsFile(problem: ConfigProblem, parts: readonly Part[]): ConfigProblem {
  const [, key = '', index, rest = ''] = /^(\w+)\[(\d+)\](.*)$/s.exec(problem.where) ?? [];
  if (index === undefined || !SHARED.includes(key)) return problem;
  let at = Number(index);
  for (const { path, text, content } of parts) {
    const list = content[key];
    const length = Array.isArray(list) ? list.length : 0;
    if (at < length) {
      const [found = problem] = withLines(text, path, [
        { ...problem, where: `${key}[${at}]${rest}` },
      ]);
      return found;
    }
    at -= length;
  }
  return { ...problem, where: `${key}[${at}]${rest}` };
}

function textOf(path: string, readFile: ReadFile): ConfigResult<string> {
  return readAs(path, readFile, (reason) => ({
    where: 'SIGNALBOX_CONFIG',
    problem: `${path} cannot be read (${reason})`,
    hint:
      reason === 'ENOENT'
        ? 'run signalbox init, or copy signalbox.example.yaml'
        : 'correct SIGNALBOX_CONFIG, or give the user of Signalbox read permission',
  }));
}

/** None for a reading that succeeded. */
export function problemsIn(reading: ConfigResult<unknown>): readonly ConfigProblem[] {
  return reading.ok ? [] : reading.problems;
}

const Id = z.guid({
  error: ({ input }) =>
    input === undefined ? 'is missing' : withHint('must be an id', 'a UUID, from the console'),
});

// One word that users can type in a command, also on a phone.
const Name = z.string().regex(/^[\p{L}\d][\p{L}\d._-]{0,62}$/u, {
  error: 'must be one word of letters, digits, dots and dashes',
});

const Tag = z.string().regex(/^[a-z0-9][a-z0-9._-]{0,62}$/, {
  error: 'must be one word of lower-case letters, digits and dashes',
});

/** A tag of the server, `key` or `key=value`, in lower case. */
const ServerTag = z.string().regex(/^[a-z0-9._-]{1,128}(=[a-z0-9._-]{1,256})?$/, {
  error: withHint('must be a tag of the server in lower case', 'its key, or key=value'),
});

/** A name as the API has it: with spaces or signs it is typed in quotes. */
const ApiName = z.string().regex(/^(?!\s)[^\p{C}"\\]{1,100}(?<!\s)$/u, {
  error: 'must be a name of at most 100 characters without quotes',
});

const Pipe = strictConfigObject({ name: ApiName, id: Id });

function serviceSchema(organizations: readonly string[]) {
  return strictConfigObject({
    name: ApiName,
    aliases: z.array(ApiName).default([]),
    id: Id,
    organization: declaredName('organization', organizations).optional(),
    tags: z.array(Tag).default([]),
    warehouse: Name.nullable().default(null),
    team: Name.nullable().default(null),
    pipes: z.array(Pipe).default([]),
  });
}

// The suffix of the variables with its key; `…_FILE` has another meaning.
const ORGANIZATION = /^(?!(.*-)?file$)[a-z0-9][a-z0-9-]{0,39}$/;

/** The server admits ten requests in ten seconds. */
const MOST_PER_MINUTE = 57;

const organization = {
  id: Id,
  plan: z.enum(['paid', 'free']),
  tier: z.enum(['basic', 'scale', 'enterprise']),
  requestsPerMinute: z.int().min(1).max(MOST_PER_MINUTE).optional(),
};
const Organization = strictConfigObject(organization);
const NamedOrganization = strictConfigObject({
  name: z.string().regex(ORGANIZATION, {
    error: 'must be at most 40 lower-case letters, digits and dashes, and not end in file',
  }),
  ...organization,
});

const Channels = strictConfigObject({
  approvals: ChannelName.optional(),
  audit: ChannelName.optional(),
})
  .default({})
  .transform(({ approvals = null, audit = null }) => ({ approvals, audit }));

const WORKSPACES_HINT = withHint('must be workspace ids, each once', 'for example [T0123ABCD]');

/** Present: the app is installed for an organization of Enterprise Grid, and serves these workspaces. */
const Slack = strictConfigObject({
  workspaces: z
    .array(z.string().regex(/^T[A-Z0-9]{2,}$/, WORKSPACES_HINT))
    .min(1, WORKSPACES_HINT)
    .refine((all) => new Set(all).size === all.length, WORKSPACES_HINT),
});

const Access = strictConfigObject({ openToTheWorld: Allowed, privateAddresses: Allowed })
  .default({ openToTheWorld: 'refused', privateAddresses: 'refused' })
  .transform(({ openToTheWorld, privateAddresses }) => ({
    openToTheWorld: openToTheWorld === 'allowed',
    privateAddresses: privateAddresses === 'allowed',
  }));

const SHARE_HINT = withHint('must be a share of the wait', 'for example 50%, from 1% to 99%');

/** When approvers are reminded of a change that waits: `50%` is half of the time until it expires. */
const Reminders = z
  .array(z.string(SHARE_HINT).regex(/^[1-9]\d?%$/, SHARE_HINT))
  .max(5)
  .default(['50%', '90%'])
  .transform((shares) => shares.map((share) => Number(share.slice(0, -1)) / 100).sort());

const CONSOLE_HINT = 'for example https://console.example.com/services/{service}';

/** The id of a service must not choose the server, so it may only be in the path and what follows. */
function isConsoleAddress(text: string): boolean {
  const [address, same] = ['a', 'b'].map((id) => URL.parse(text.replaceAll('{service}', id)));
  if (!address || !same || /[{}]/.test(text.replaceAll('{service}', ''))) return false;
  const isPlain = address.username === '' && address.password === '';
  return address.protocol === 'https:' && isPlain && address.origin === same.origin;
}

const Console = z
  .string()
  .max(500)
  .refine(isConsoleAddress, {
    error: withHint('must be an https address, with {service} at most in its path', CONSOLE_HINT),
  });

const Cloud = strictConfigObject({
  /** `extended`: also uses the reads of live servers that the contract does not have. */
  reads: z.enum(['contract', 'extended']).default('contract'),
  /** The page of a service in the console of the provider; `{service}` stands for its id. */
  console: Console.optional(),
  /** The tags of the server that rules may name. Only discovered services have them. */
  tags: z.array(ServerTag).min(1).optional(),
}).default({ reads: 'contract' });

const LONGEST_DAYS = 3_650;

/** Schedules end 90 days after their approval, so that a shorter time would keep all events anyway. */
const LEAST_CHANGES_DAYS = 90;
/**
 * Signalbox learns from 84 days of snapshots when days become final, and costs are stored by month.
 * Source: docs/operating.md#prune-old-texts.
 */
const LEAST_COSTS_DAYS = 120;

/** `400d` → milliseconds. */
function days(least: number) {
  const problem = withHint(
    'must be a number of days',
    `for example 400d, from ${least}d to ${LONGEST_DAYS}d`,
  );
  return z
    .string(problem)
    .regex(/^\d{1,6}d$/, problem)
    .transform((text) => Number(text.slice(0, -1)))
    .refine((count) => count >= least && count <= LONGEST_DAYS, problem)
    .transform((count) => count * DAY_MS);
}

/** How long `audit prune` keeps the texts of ended changes, and costs; null: forever. */
const Retention = strictConfigObject({
  changes: days(LEAST_CHANGES_DAYS).optional(),
  costs: days(LEAST_COSTS_DAYS).optional(),
})
  .default({})
  .transform(({ changes = null, costs = null }) => ({ changesMs: changes, costsMs: costs }));

/** The schema of signalbox.yaml for the names that the file declares. */
function fileSchema(words: PolicyVocabulary & { readonly teams: readonly string[] }) {
  const on = costSelectorSchema(words);
  return strictConfigObject({
    organization: Organization.optional(),
    organizations: z.array(NamedOrganization).min(1).optional(),
    services: z.array(serviceSchema([...(words.organizations?.keys() ?? [])])).default([]),
    channels: Channels,
    slack: Slack.optional(),
    /** Who gets the card of a change: its channel, and with `dm` approvers who are not in it, or all. */
    notify: z.enum(['channel', 'dm', 'both']).default('channel'),
    reminders: Reminders,
    ...policyShape(words),
    ...costConfigShape(on),
    /** Where the alerts that arrive are posted: the first one that selects the service. */
    alerts: z
      .array(strictConfigObject({ channel: ChannelName, on: on.optional() }))
      .refine((all) => all.length === 0 || all.at(-1)?.on === undefined, {
        error: withHint(
          'must end with a channel for all other alerts',
          "{ channel: '#db-alerts' }",
        ),
      })
      .default([]),
    access: Access,
    cloud: Cloud,
    retention: Retention,
    /** Missing: no program may ask, and nothing of the protocol is loaded. */
    agents: agentsSchema(words.roles, [...(words.organizations?.keys() ?? [])]).optional(),
  }).transform(({ organization: only, organizations: named, ...all }) => {
    const { roles, policy, freezes, never, ...settings } = all;
    const { cloud, costs, alerts, agents, services, slack, ...rest } = settings;
    const given = named ?? (only ? [{ name: null, ...only }] : []);
    const idOf = new Map(given.map(({ name, id }) => [name, id]));
    return {
      ...rest,
      organizations: given.map(({ requestsPerMinute = null, ...each }) => ({
        ...each,
        requestsPerMinute,
      })),
      services: services.map(({ organization: name, ...service }) => ({
        ...service,
        organizationId: idOf.get(name ?? given[0]?.name ?? null) ?? '',
      })),
      agents: agents ?? null,
      /** Null: the app is installed in one workspace. */
      workspaces: slack?.workspaces ?? null,
      alertChannels: alerts.map(({ channel, on = null }) => ({ channel, on })),
      prices: costs.price,
      costFloor: costs.floor,
      readDigest: digestReader(on),
      reads: cloud.reads,
      console: cloud.console ?? null,
      serverTags: cloud.tags ?? [],
      policy: {
        ...{ roles, rules: policy, freezes, never },
        ...(agents && { agents: new Map(agents.allow.map((one) => [one.name, one.roles])) }),
        ...(agents && given.length > 1 && { agentOrganizations: narrowed(agents.allow, idOf) }),
      },
    };
  });
}

/** The organizations of the agents that name some. */
function narrowed(agents: readonly AgentSettings[], idOf: ReadonlyMap<string | null, string>) {
  return new Map(
    agents.flatMap(({ name, organizations }) =>
      organizations
        ? [[name, organizations.map((one) => ({ name: one, id: idOf.get(one) ?? '' }))] as const]
        : [],
    ),
  );
}

const Text = z.string().catch('');
const Texts = z.array(Text).catch([]);

/** A map; anything else counts as an empty one. */
function part<Shape extends z.ZodRawShape>(shape: Shape) {
  return z.preprocess((value) => (isRecord(value) ? value : {}), z.object(shape));
}

function list<Shape extends z.ZodRawShape>(shape: Shape) {
  return z.array(part(shape)).catch([]);
}

const Unknown = z.unknown().optional();

const DeclaredParts = part({
  organization: Unknown,
  organizations: list({ name: Text, id: Text }).optional(),
  services: list({
    ...{ name: Text, id: Text, organization: Text, aliases: Texts, tags: Texts },
    ...{ warehouse: Text, team: Text, pipes: list({ name: Text, id: Text }) },
  }),
  roles: z.record(z.string(), z.unknown()).catch({}),
  channels: part({ approvals: Unknown }),
  policy: list({ allow: Texts, approvals: Unknown, channel: Unknown }),
  cloud: part({ tags: Texts }),
  agents: part({ allow: list({ name: Text }) }),
  digests: list({ channel: Text, period: z.string().catch('day') }),
  budgets: list({ name: Text }),
});

type Outline = z.output<typeof DeclaredParts>;

/**
 * A lenient reading of the file, in which invalid parts are empty. It supplies the names that one
 * part declares and another references, so that one mistake does not hide the others.
 */
export function readDeclaredParts(content: unknown): Outline {
  return DeclaredParts.parse(content);
}

/** The names in the file to which its other parts, and cases of the policy, may refer. */
export function declaredNames({ organizations = [], services, roles, cloud, agents }: Outline) {
  return {
    organizations: new Map(
      organizations.flatMap(({ name, id }) => (name === '' ? [] : [[name, id] as const])),
    ),
    agents: present(agents.allow.map(({ name }) => name)),
    roles: Object.keys(roles),
    services: serviceIds(services),
    tags: present(services.flatMap(({ tags }) => tags)),
    serverTags: present(cloud.tags),
    warehouses: present(services.map(({ warehouse }) => warehouse)),
    teams: present(services.map(({ team }) => team)),
  };
}

/** By name; a name that several organizations have is written with its organization, as people type it. */
function serviceIds(services: Outline['services']): ReadonlyMap<string, string> {
  const named = services.filter(({ name }) => name !== '');
  const full = named.flatMap(({ name, id, organization: of }) =>
    of ? [[`${of}/${name}`, id] as const] : [],
  );
  const alike = Map.groupBy(named, ({ name }) => name);
  const plain = named.filter(({ name }) => alike.get(name)?.length === 1 || full.length === 0);
  return new Map([...plain.map(({ name, id }) => [name, id] as const), ...full]);
}

function present(words: readonly string[]): readonly string[] {
  return [...new Set(words)].filter((word) => word !== '');
}

/** Rules with approvals but without a channel for their cards. */
function cardsWithoutChannel({ channels, policy }: Outline): readonly ConfigProblem[] {
  if (channels.approvals !== undefined) return [];
  const places = policy.flatMap(({ approvals, channel }, index) =>
    approvals !== undefined && channel === undefined ? [`policy[${index}]`] : [],
  );
  if (places.length === 0) return [];
  const problem = `is missing, and ${places.join(', ')} names no channel for its approvals`;
  return [{ where: 'channels.approvals', problem, hint: "for example '#db-approvals'" }];
}

/** Exactly one of `organization` and `organizations`; among several, each service names its own. */
function organizationChoice({ organization, organizations, services }: Outline) {
  if (organization === undefined && organizations === undefined)
    return [problemAt('organization', 'is missing', null)];
  if (organization !== undefined && organizations !== undefined)
    return [problemAt('organizations', 'cannot stand beside organization', 'keep one of them')];
  if (!organizations || organizations.length < 2) return [];
  const hint = `one of: ${present(organizations.map(({ name }) => name)).join(', ')}`;
  return services.flatMap((service, index) =>
    service.organization === ''
      ? [problemAt(`services[${index}].organization`, 'is missing', hint)]
      : [],
  );
}

/** Names and ids that must be unique but are used twice. */
function repeatedNames({ organizations = [], services, digests, budgets }: Outline) {
  const isOfSeveral = organizations.length > 1;
  const names = services.flatMap(({ name, aliases, organization }, index) => {
    // Of a list of one, a service may name its organization or not.
    const of = isOfSeveral ? organization : '';
    return [
      { where: `services[${index}].name`, word: name, of },
      ...aliases.map((word, at) => ({ where: `services[${index}].aliases[${at}]`, word, of })),
    ];
  });
  const pipes = (key: 'name' | 'id', of: (service: number) => string) =>
    services.flatMap((each, at) => uses(`services[${at}].pipes`, key, each.pipes, of(at)));
  return [
    uses('organizations', 'name', organizations),
    uses('organizations', 'id', organizations),
    names,
    uses('services', 'id', services),
    pipes('name', String),
    pipes('id', () => ''),
    uses('budgets', 'name', budgets),
    // A channel has at most one digest per period, because this key prevents duplicate posts.
    digests.map(({ channel, period }, at) => {
      return { where: `digests[${at}]`, word: channel && `${channel} by ${period}` };
    }),
  ].flatMap(repeated);
}

function uses<Key extends string>(
  list: string,
  key: Key,
  all: readonly Readonly<Record<Key, string>>[],
  of = '',
): readonly NameUse[] {
  return all.map((one, at) => ({ where: `${list}[${at}].${key}`, word: one[key], of }));
}

interface NameUse {
  readonly where: string;
  readonly word: string;
  /** The organization or service in which it must be unique; missing: in the file. */
  readonly of?: string;
}

function repeated(names: readonly NameUse[]): readonly ConfigProblem[] {
  const first = new Map<string, string>();
  return names.flatMap(({ where, word, of = '' }) => {
    const key = `${of}/${word.toLowerCase()}`;
    const before = first.get(key);
    if (word === '') return [];
    if (before === undefined) first.set(key, where);
    return before === undefined
      ? []
      : [{ where, problem: `repeats ${quoted(word)}`, hint: `already used at ${before}` }];
  });
}
