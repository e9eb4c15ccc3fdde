import { createHash } from 'node:crypto';
import { z } from 'zod';
import type { Secret } from '../base/errors.ts';
import {
  type ConfigProblem,
  type ConfigResult,
  parseConfig,
  quoted,
  readYaml,
} from '../base/problem.ts';
import { type CommandNames, covers } from '../domain/policy.ts';
import { fileSchema } from './config-schema.ts';
import {
  type Env,
  type Environment,
  isSet,
  type ReadFile,
  readEnvironment,
  readTracing,
  reasonOf,
  type Tracing,
} from './environment.ts';

export type { ConfigProblem } from '../base/problem.ts';

const TextDeclaredParts = z.string().catch('');
const Texts = z.array(TextDeclaredParts).catch([]);

function list<Item extends z.ZodType>(item: Item) {
  return z.array(item).catch([]);
}

const DeclaredParts = z.object({
  services: list(
    z
      .object({
        name: TextDeclaredParts,
        id: TextDeclaredParts,
        aliases: Texts,
        tags: Texts,
        warehouse: TextDeclaredParts,
        team: TextDeclaredParts,
        pipes: list(
          z.object({ name: TextDeclaredParts, id: TextDeclaredParts }).catch({ name: '', id: '' }),
        ),
      })
      .catch({ name: '', id: '', aliases: [], tags: [], warehouse: '', team: '', pipes: [] }),
  ),
  roles: z.record(z.string(), z.unknown()).catch({}),
  channels: z.object({ approvals: z.unknown().optional() }).catch({ approvals: undefined }),
  policy: list(
    z
      .object({
        allow: Texts,
        approvals: z.unknown().optional(),
        channel: z.unknown().optional(),
        discovered: z.unknown().optional(),
      })
      .catch({ allow: [], approvals: undefined, channel: undefined, discovered: undefined }),
  ),
  cloud: z.object({ reads: TextDeclaredParts, tags: Texts }).catch({ reads: '', tags: [] }),
  digests: list(
    z
      .object({ channel: TextDeclaredParts, period: z.string().catch('day') })
      .catch({ channel: '', period: '' }),
  ),
  budgets: list(z.object({ name: TextDeclaredParts }).catch({ name: '' })),
});

/**
 * A lenient reading of the file, in which invalid parts are empty. It supplies the names that one
 * part declares and another references, so that one mistake does not hide the others.
 */
type Outline = z.output<typeof DeclaredParts>;

export function readDeclaredParts(content: unknown): Outline {
  const reading = DeclaredParts.safeParse(content ?? {});
  return reading.success ? reading.data : DeclaredParts.parse({});
}

export function declaredNames({ services, roles, cloud }: Outline) {
  return {
    roles: Object.keys(roles),
    services: new Map(services.filter(({ name }) => name !== '').map(({ name, id }) => [name, id])),
    tags: present(services.flatMap(({ tags }) => tags)),
    serverTags: present(cloud.tags),
    warehouses: present(services.map(({ warehouse }) => warehouse)),
    teams: present(services.map(({ team }) => team)),
  };
}

function present(words: readonly string[]): readonly string[] {
  return [...new Set(words)].filter((word) => word !== '');
}

function mentions({ policy }: Outline, command: string): boolean {
  return policy.some(({ allow }) => allow.some((pattern) => covers(pattern, command)));
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

/** What has an effect only if services are discovered, in a file without extended reads. */
function discoveryWithoutReads({ cloud, policy }: Outline): readonly ConfigProblem[] {
  if (cloud.reads === 'extended') return [];
  const rules = policy.flatMap(({ discovered }, index) =>
    discovered === 'allowed' ? [`policy[${index}].discovered`] : [],
  );
  const places = [...rules, ...(cloud.tags.length > 0 ? ['cloud.tags'] : [])];
  const problem = 'has no effect without the list of services';
  const hint = 'set cloud.reads: extended, or remove it';
  return places.map((where) => ({ where, problem, hint }));
}

/** Names and ids that must be unique but are used twice. */
function repeatedNames({ services, digests, budgets }: Outline): readonly ConfigProblem[] {
  const names = services.flatMap(({ name, aliases }, index) => [
    { where: `services[${index}].name`, word: name },
    ...aliases.map((word, at) => ({ where: `services[${index}].aliases[${at}]`, word })),
  ]);
  const pipes = services.flatMap((service, index) =>
    service.pipes.map((pipe, at) => ({ ...pipe, where: `services[${index}].pipes[${at}]`, index })),
  );
  return [
    ...repeated(names),
    ...repeated(services.map(({ id }, index) => ({ where: `services[${index}].id`, word: id }))),
    ...services.flatMap((_, service) =>
      repeated(
        pipes
          .filter(({ index }) => index === service)
          .map(({ where, name }) => ({ where: `${where}.name`, word: name })),
      ),
    ),
    ...repeated(pipes.map(({ where, id }) => ({ where: `${where}.id`, word: id }))),
    ...repeated(
      budgets.map(({ name }, index) => ({ where: `budgets[${index}].name`, word: name })),
    ),
    ...repeated(digests.map(digestKey)),
  ];
}

// A channel has at most one digest per period, because this key prevents duplicate posts.
function digestKey({ channel, period }: Outline['digests'][number], index: number): NameUse {
  return { where: `digests[${index}]`, word: channel === '' ? '' : `${channel} by ${period}` };
}

interface NameUse {
  readonly where: string;
  readonly word: string;
}

function repeated(names: readonly NameUse[]): readonly ConfigProblem[] {
  const first = new Map<string, string>();
  return names.flatMap(({ where, word }) => {
    const key = word.toLowerCase();
    const before = first.get(key);
    if (word === '') return [];
    if (before === undefined) first.set(key, where);
    return before === undefined
      ? []
      : [{ where, problem: `repeats ${quoted(word)}`, hint: `already used at ${before}` }];
  });
}

type FileContent = z.output<ReturnType<typeof fileSchema>> & {
  /** SHA-256 of the file text, to detect a changed configuration. */
  readonly configHash: string;
};
export type Config = FileContent &
  ReturnType<typeof fromEnvironment> & {
    /** Null: tracing is off. */
    readonly tracing: Tracing | null;
  };

interface ConfigSources {
  readonly env: Env;
  readonly readFile: ReadFile;
  /** The names of all commands, against which the policy is checked. */
  readonly commands: CommandNames;
}

export type ConfigLoad =
  | { readonly ok: true; readonly config: Config }
  | { readonly ok: false; readonly problems: readonly ConfigProblem[] };

/** Reads the variables and the file. Reports all problems at once. */
export function loadConfig(sources: ConfigSources, readContent = readConfigFile): ConfigLoad {
  const environment = readEnvironment(sources.env, sources.readFile);
  const tracing = readTracing(sources.env, sources.readFile);
  const path = sources.env.SIGNALBOX_CONFIG || './signalbox.yaml';
  const file = readContent({ ...sources, path, hasKey: isSet('SIGNALBOX_KEY', sources.env) });
  if (environment.ok && tracing.ok && file.ok) {
    const own = fromEnvironment(environment.value);
    return { ok: true, config: { ...file.value, ...own, tracing: tracing.value } };
  }
  return { ok: false, problems: [environment, tracing, file].flatMap(problemsIn) };
}

function problemsIn(reading: ConfigResult<unknown>): readonly ConfigProblem[] {
  return reading.ok ? [] : reading.problems;
}

function fromEnvironment(variables: Environment) {
  const { ALERTS_API_URL: url, ALERTS_API_TOKEN: token } = variables;
  return {
    slack: {
      botToken: variables.SLACK_BOT_TOKEN,
      /** Present: Socket Mode. */
      appToken: variables.SLACK_APP_TOKEN ?? null,
      signingSecret: variables.SLACK_SIGNING_SECRET ?? null,
      apiUrl: variables.SLACK_API_URL ?? null,
      commandPrefix: variables.SLACK_COMMAND_PREFIX,
    },
    port: variables.PORT,
    /** For probes and metrics; null: they use `port` as well. */
    opsPort: variables.OPS_PORT ?? null,
    /** Null: both ports are open on every address of the machine. */
    bindAddress: variables.BIND_ADDRESS ?? null,
    cloud: {
      url: variables.CLOUD_API_URL,
      keyId: variables.CLOUD_API_KEY_ID,
      keySecret: variables.CLOUD_API_KEY_SECRET,
    },
    /** Null: alert commands are off. */
    alerts: url !== undefined && token !== undefined ? { url, token } : null,
    databaseUrl: variables.DATABASE_URL,
    /** The most connections of this process to PostgreSQL. */
    databasePoolSize: variables.DATABASE_POOL_SIZE,
    /** 32 bytes in base64. */
    key: variables.SIGNALBOX_KEY ?? null,
    /** Further keys, which verify and unseal. */
    previousKeys: variables.SIGNALBOX_PREVIOUS_KEYS,
    logLevel: variables.LOG_LEVEL,
    stopWithinMs: variables.STOP_WITHIN_S * 1_000,
  };
}

interface ConfigFileSource extends Pick<ConfigSources, 'readFile' | 'commands'> {
  readonly path: string;
  /** Whether SIGNALBOX_KEY is set; true for tools that need no variables. */
  readonly hasKey: boolean;
}

/** Reads the file without the other variables. Reports all problems at once. */
export function readConfigFile({
  path,
  readFile,
  commands,
  hasKey,
}: ConfigFileSource): ConfigResult<FileContent> {
  const text = textOf(path, readFile);
  if (!text.ok) return text;
  const yaml = readYaml(text.value, path);
  if (!yaml.ok) return yaml;

  const declared = readDeclaredParts(yaml.value);
  const content = parseConfig(
    fileSchema({ ...commands, ...declaredNames(declared) }),
    yaml.value ?? {},
  );
  const problems = [
    ...problemsIn(content).map((problem) => ({ ...problem, where: problem.where || path })),
    ...repeatedNames(declared),
    ...cardsWithoutChannel(declared),
    ...discoveryWithoutReads(declared),
    ...(mentions(declared, 'service create') && !hasKey ? [MISSING_KEY] : []),
  ];
  if (!content.ok || problems.length > 0) return { ok: false, problems };
  const configHash = createHash('sha256').update(text.value).digest('hex');
  return { ok: true, value: { ...content.value, configHash } };
}

function textOf(path: string, readFile: ReadFile): ConfigResult<string> {
  try {
    return { ok: true, value: readFile(path) };
  } catch (error) {
    const reason = reasonOf(error);
    const problem = `${path} cannot be read (${reason})`;
    const hint =
      reason === 'ENOENT'
        ? 'create it from signalbox.example.yaml'
        : 'correct SIGNALBOX_CONFIG, or give the user of Signalbox read permission';
    return { ok: false, problems: [{ where: 'SIGNALBOX_CONFIG', problem, hint }] };
  }
}

// Without the key the password of a new service cannot be stored encrypted.
const MISSING_KEY: ConfigProblem = {
  where: 'SIGNALBOX_KEY',
  problem: 'is not set, but the policy allows service create',
  hint: '32 bytes: openssl rand -base64 32',
};

const WIDEST = 36;

/** The text for stderr when the start is refused. */
export function formatProblems(problems: readonly ConfigProblem[]): string {
  const width = Math.min(WIDEST, Math.max(...problems.map(({ where }) => where.length)));
  const count = problems.length === 1 ? '1 problem' : `${problems.length} problems`;
  return [
    `Signalbox did not start: ${count}.`,
    '',
    ...problems.flatMap((problem) => linesOf(problem, width)),
    '',
    'Nothing was sent or changed. Fix these problems and start Signalbox again.',
    '',
  ].join('\n');
}

function linesOf({ where, problem, hint }: ConfigProblem, width: number): readonly string[] {
  const margin = ' '.repeat(width + 4);
  const rest = hint === null ? [] : [`${margin}→ ${hint}`];
  if (where.length > width) return [`  ${where}`, `${margin}${problem}`, ...rest];
  return [`  ${where.padEnd(width)}  ${problem}`, ...rest];
}

/** A channel of the configuration, by name or id, and the fields that name it. */
export interface ChannelUse {
  readonly word: string;
  readonly places: readonly string[];
  /** Costs are posted here, which other workspaces must not read. */
  readonly forCosts: boolean;
}

export type ChannelConfig = Pick<Config, 'channels' | 'policy' | 'digests' | 'budgets'>;

/** Returns each channel of the configuration once. Source: docs/operating.md#check-the-installation. */
export function channelUses({
  channels,
  policy,
  digests,
  budgets,
}: ChannelConfig): readonly ChannelUse[] {
  const all = [
    { word: channels.approvals, place: 'channels.approvals', costs: false },
    { word: channels.audit, place: 'channels.audit', costs: false },
    ...policy.rules.map(({ channel, place }) => ({
      word: channel,
      place: `policy[${place - 1}].channel`,
      costs: false,
    })),
    ...digests.map(({ channel }, at) => ({
      word: channel,
      place: `digests[${at}].channel`,
      costs: true,
    })),
    ...budgets.map(({ notify }, at) => ({
      word: notify,
      place: `budgets[${at}].notify`,
      costs: true,
    })),
  ].flatMap(({ word, ...rest }) => (word === null ? [] : [{ word, ...rest }]));
  return [...new Set(all.map(({ word }) => word))].map((word) => {
    const uses = all.filter((use) => use.word === word);
    return {
      word,
      places: uses.map(({ place }) => place),
      forCosts: uses.some(({ costs }) => costs),
    };
  });
}

/** The changed settings that need a restart, as problems of a reload. */
export function fixedUntilRestart(before: Config, after: Config): readonly ConfigProblem[] {
  const isOther = (one: Secret | null, other: Secret | null) => one?.reveal() !== other?.reveal();
  const settings: readonly (readonly [string, boolean])[] = [
    ['DATABASE_URL', isOther(before.databaseUrl, after.databaseUrl)],
    ['DATABASE_POOL_SIZE', before.databasePoolSize !== after.databasePoolSize],
    ['SIGNALBOX_KEY', isOther(before.key, after.key)],
    ['SIGNALBOX_PREVIOUS_KEYS', keyTexts(before.previousKeys) !== keyTexts(after.previousKeys)],
    ['PORT', before.port !== after.port],
    ['OPS_PORT', before.opsPort !== after.opsPort],
    ['BIND_ADDRESS', before.bindAddress !== after.bindAddress],
    ['SLACK_APP_TOKEN', isOther(before.slack.appToken, after.slack.appToken)],
    ['SLACK_SIGNING_SECRET', isOther(before.slack.signingSecret, after.slack.signingSecret)],
  ];
  return settings.flatMap(([where, isChanged]) =>
    isChanged ? [{ where, problem: 'cannot change at runtime', hint: 'restart Signalbox' }] : [],
  );
}

function keyTexts(keys: readonly Secret[]): string {
  return keys.map((key) => key.reveal()).join();
}
