// All settings of Signalbox: loaded, compared at a reload, and their problems as text.
import type { Secret } from '../base/errors.ts';
import type { ConfigProblem } from '../base/problem.ts';
import {
  type ConfigFileSource,
  type FileContent,
  organizationNames,
  problemsIn,
  readConfigFile,
} from './config-file.ts';
import { type Env, type Environment, readEnvironment } from './environment.ts';
import { readTracing, type Tracing } from './tracing-environment.ts';

/** An organization of the cloud, with the key that sends its requests. `name` is null where it is the only one. */
export type ConfiguredOrganization = FileContent['organizations'][number] & {
  readonly keyId: string;
  readonly keySecret: Secret;
};

/** All settings: of the file, of the variables and of tracing. */
export type Config = Omit<FileContent, 'organizations'> &
  ReturnType<typeof fromEnvironment> & {
    readonly organizations: readonly [ConfiguredOrganization, ...ConfiguredOrganization[]];
    /** Null: tracing is off. */
    readonly tracing: Tracing | null;
    /** The folder for a recording, and the text of the configuration file; null: nothing is recorded. */
    readonly recording: { readonly folder: string; readonly file: string } | null;
  };

interface ConfigSources extends Pick<ConfigFileSource, 'readFile' | 'commands'> {
  readonly env: Env;
}

export type ConfigLoad =
  | { readonly ok: true; readonly config: Config }
  | { readonly ok: false; readonly problems: readonly ConfigProblem[] };

/** Reads the variables and the file. Reports all problems at once. */
export function loadConfig(sources: ConfigSources, readContent = readConfigFile): ConfigLoad {
  const path = sources.env.SIGNALBOX_CONFIG || './signalbox.yaml';
  const file = readContent({ ...sources, path });
  const named = file.ok
    ? file.value.organizations.flatMap(({ name }) => name ?? [])
    : organizationNames({ path, readFile: sources.readFile });
  const environment = readEnvironment(sources.env, sources.readFile, named);
  const tracing = readTracing(sources.env, sources.readFile);
  if (environment.ok && tracing.ok && file.ok) {
    const { SIGNALBOX_RECORD: folder = null } = environment.value;
    const recording = folder === null ? null : { folder, file: sources.readFile(path) };
    const own = { ...fromEnvironment(environment.value, sources.env), recording };
    const problems = [
      ...(own.alertsSecret !== null && file.value.alertChannels.length === 0
        ? [NO_ALERT_CHANNEL]
        : []),
      ...(own.slack.signingSecret === null && file.value.agents?.allow.some(({ by }) => by === null)
        ? [NO_SIGNING_SECRET]
        : []),
      ...misplacedChannels(file.value),
    ];
    const [first, ...others] = file.value.organizations.flatMap((each, at) => {
      const key = environment.value.keys[at];
      const { CLOUD_API_KEY_ID: keyId, CLOUD_API_KEY_SECRET: keySecret } = key ?? {};
      return keyId && keySecret ? [{ ...each, keyId, keySecret }] : [];
    });
    if (problems.length > 0 || !first) return { ok: false, problems };
    const organizations = [first, ...others] as const;
    return { ok: true, config: { ...file.value, ...own, organizations, tracing: tracing.value } };
  }
  return { ok: false, problems: [environment, tracing, file].flatMap(problemsIn) };
}

/** In an organization a name alone can mean a channel of several workspaces. */
function misplacedChannels(file: FileContent): readonly ConfigProblem[] {
  const { workspaces } = file;
  const [example] = workspaces ?? [];
  return channelUses(file).flatMap(({ word, places: [where = ''] }) => {
    const [, team, name] = /^(?:(T\w+)\/)?(#.*)$/.exec(word) ?? [];
    if (!name || (workspaces ? workspaces.includes(team ?? '') : !team)) return [];
    const problem = `${word} is in no workspace of slack.workspaces`;
    const hint = `write ${example ? `${example}/` : ''}${name}, or the id of the channel`;
    return [{ where, problem, hint }];
  });
}

const NO_ALERT_CHANNEL: ConfigProblem = {
  where: 'ALERTS_WEBHOOK_SECRET',
  problem: 'is set, but signalbox.yaml names no channel for alerts',
  hint: "add alerts: [{ channel: '#db-alerts' }]",
};

const NO_SIGNING_SECRET: ConfigProblem = {
  where: 'SLACK_SIGNING_SECRET',
  problem: 'is missing, but an agent of signalbox.yaml is called by: slack',
  hint: 'copy it from Basic Information of the app; Socket Mode may stay on',
};

const PROXIES = ['HTTPS_PROXY', 'https_proxy', 'HTTP_PROXY', 'http_proxy'];

function fromEnvironment(variables: Environment, env: Env) {
  const { ALERTS_API_URL: url, ALERTS_API_TOKEN: token } = variables;
  return {
    slack: {
      botToken: variables.SLACK_BOT_TOKEN,
      /** Present: Socket Mode. */
      appToken: variables.SLACK_APP_TOKEN ?? null,
      signingSecret: variables.SLACK_SIGNING_SECRET ?? null,
      apiUrl: variables.SLACK_API_URL ?? null,
      commandPrefix: variables.SLACK_COMMAND_PREFIX,
      isProxied: PROXIES.some((name) => env[name]),
    },
    port: variables.PORT,
    /** For probes and metrics; null: they use `port` as well. */
    opsPort: variables.OPS_PORT ?? null,
    /** Null: both ports are open on every address of the machine. */
    bindAddress: variables.BIND_ADDRESS ?? null,
    cloud: { url: variables.CLOUD_API_URL },
    /** Null: alert commands are off. */
    alerts: url !== undefined && token !== undefined ? { url, token } : null,
    /** The last part of the path of the alert webhook; null: it is off. */
    alertsSecret: variables.ALERTS_WEBHOOK_SECRET ?? null,
    databaseUrl: variables.DATABASE_URL,
    /** 32 bytes in base64; null: the key file next to the SQLite file. */
    key: variables.SIGNALBOX_KEY ?? null,
    /** Further keys, which verify and unseal. */
    previousKeys: variables.SIGNALBOX_PREVIOUS_KEYS,
    logLevel: variables.LOG_LEVEL,
    stopWithinMs: variables.STOP_WITHIN_S * 1_000,
  };
}

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
export type ChannelUse = ReturnType<typeof channelUses>[number];

export type ChannelConfig = Pick<
  Config,
  'channels' | 'policy' | 'digests' | 'budgets' | 'alertChannels'
>;

/** Returns each channel of the configuration once. Source: docs/operating.md#check-the-installation. */
export function channelUses(config: ChannelConfig) {
  const { channels, policy, digests, budgets, alertChannels } = config;
  const all: readonly (readonly [word: string | null, place: string, forCosts: boolean])[] = [
    [channels.approvals, 'channels.approvals', false],
    [channels.audit, 'channels.audit', false],
    ...policy.rules.map(
      ({ requires: { channel, rule } }) => [channel, `policy[${rule - 1}].channel`, false] as const,
    ),
    ...digests.map(({ channel }, at) => [channel, `digests[${at}].channel`, true] as const),
    ...budgets.map(({ notify }, at) => [notify, `budgets[${at}].notify`, true] as const),
    ...alertChannels.map(({ channel }, at) => [channel, `alerts[${at}].channel`, false] as const),
  ];
  return [...Map.groupBy(all, ([word]) => word)].flatMap(([word, uses]) => {
    if (word === null) return [];
    const places = uses.map(([, place]) => place);
    // Costs are posted here, which other workspaces must not read.
    const forCosts = uses.some(([, , isForCosts]) => isForCosts);
    return [{ word, places, forCosts }];
  });
}

const FIXED: Readonly<Record<string, (config: Config) => unknown>> = {
  DATABASE_URL: ({ databaseUrl }) => databaseUrl.reveal(),
  SIGNALBOX_KEY: ({ key }) => key?.reveal(),
  SIGNALBOX_PREVIOUS_KEYS: ({ previousKeys }) => previousKeys.map((key) => key.reveal()).join(),
  PORT: ({ port }) => port,
  OPS_PORT: ({ opsPort }) => opsPort,
  BIND_ADDRESS: ({ bindAddress }) => bindAddress,
  SIGNALBOX_RECORD: ({ recording }) => recording?.folder,
  SLACK_APP_TOKEN: ({ slack }) => slack.appToken?.reveal(),
  SLACK_SIGNING_SECRET: ({ slack }) => slack.signingSecret?.reveal(),
};

/** The changed settings that need a restart, as problems of a reload. */
export function fixedUntilRestart(before: Config, after: Config): readonly ConfigProblem[] {
  const changed = Object.keys(FIXED).filter(
    (name) => FIXED[name]?.(before) !== FIXED[name]?.(after),
  );
  const problem = 'cannot change at runtime';
  return changed.map((where) => ({ where, problem, hint: 'restart Signalbox' }));
}
