import { createHash } from 'node:crypto';
import type { z } from 'zod';
import { type ConfigProblem, type ConfigResult, parseConfig, readYaml } from '../base/problem.ts';
import type { CommandNames } from '../domain/policy.ts';
import {
  cardsWithoutChannel,
  declaredNames,
  discoveryWithoutReads,
  mentions,
  readDeclaredParts,
  repeatedNames,
} from './declared-parts.ts';
import {
  type Env,
  type Environment,
  isSet,
  type ReadFile,
  readEnvironment,
  reasonOf,
} from './environment.ts';
import { fileSchema } from './schema.ts';
import { readTracing, type Tracing } from './tracing.ts';

export type { ConfigProblem } from '../base/problem.ts';

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
