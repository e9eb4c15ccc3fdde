import { isIP } from 'node:net';
import { z } from 'zod';
import { Secret } from '../base/errors.ts';
import { isThisMachine } from '../base/http-limits.ts';
import {
  type ConfigProblem,
  type ConfigResult,
  parseConfig,
  strictConfigObject,
  withHint,
} from '../base/problem.ts';
import { nearest } from '../base/text.ts';

export type Env = Readonly<Record<string, string | undefined>>;
export type ReadFile = (path: string) => string;

const LONG_WORD = withHint('must be 32 to 128 letters, digits and dashes', 'openssl rand -hex 24');

/** All variables with their formats and defaults. */
export const Variables = strictConfigObject({
  SLACK_BOT_TOKEN: token('xoxb-', 'the bot token, xoxb-…, from the page “OAuth & Permissions”'),
  SLACK_APP_TOKEN: token('xapp-', 'the app-level token, xapp-…').optional(),
  SLACK_SIGNING_SECRET: secret('the signing secret from the page “Basic Information”').optional(),
  SLACK_API_URL: address('the address of the Web API').optional(),
  SLACK_COMMAND_PREFIX: z
    .string()
    // Slack allows 32 characters for a command, and the longest noun needs nine.
    .regex(/^[a-z0-9-]{1,22}$/, 'must be at most 22 lower-case letters, digits and dashes')
    .default(''),
  PORT: port().default(3000),
  OPS_PORT: port().optional(),
  BIND_ADDRESS: z
    .string()
    .refine((text) => isIP(text) !== 0, { error: withHint('must be an IP address', '127.0.0.1') })
    .optional(),
  CLOUD_API_URL: address('the address of the cloud API, https://…'),
  CLOUD_API_KEY_ID: variable('the id of an API key, from the cloud console').regex(
    /^\S+$/,
    'must not contain spaces',
  ),
  CLOUD_API_KEY_SECRET: secret('the secret of that API key'),
  ALERTS_API_URL: address('the address of the alerts API').optional(),
  ALERTS_API_TOKEN: secret('a token of the alerts API').optional(),
  ALERTS_WEBHOOK_SECRET: secret('the last part of the path')
    .refine((text) => /^[\w-]{32,128}$/.test(text.reveal()), LONG_WORD)
    .optional(),
  DATABASE_URL: z
    .string()
    .regex(/^(file:.|postgres(ql)?:\/\/.)/, 'must begin with file: or postgres://')
    .default('file:./signalbox.db')
    .transform((text) => new Secret(text)),
  DATABASE_INSECURE: choice('allowed').optional(),
  SIGNALBOX_CONFIG: z.string().default('./signalbox.yaml'),
  SIGNALBOX_KEY: z
    .string()
    .refine(isKey, { error: withHint('must be 32 bytes in base64', 'openssl rand -base64 32') })
    .transform((text) => new Secret(text))
    .optional(),
  SIGNALBOX_PREVIOUS_KEYS: z
    .string()
    .transform((text) => text.split(',').map((key) => key.trim()))
    .refine((keys) => keys.every(isKey), {
      error: withHint('must be keys of 32 bytes in base64, separated by commas', 'earlier keys'),
    })
    .transform((keys) => keys.map((key) => new Secret(key)))
    .default([]),
  SIGNALBOX_RECORD: z.string().optional(),
  LOG_LEVEL: choice('fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent').default('info'),
  STOP_WITHIN_S: z
    .string()
    .regex(/^\d{1,3}$/, 'must be a whole number of seconds')
    .transform(Number)
    // A request that changes something may take 40 seconds; supervisors do not wait longer than 600.
    .refine((seconds) => seconds >= 10 && seconds <= 600, { error: 'must be from 10 to 600' })
    .default(50),
});

/** The names of all variables but those of OpenTelemetry. */
export const VARIABLE_NAMES = Object.keys(Variables.shape);

/** Variables whose value can come from a file, named by the variable with the suffix `_FILE`. */
export const FROM_FILES = [
  'SLACK_BOT_TOKEN',
  'SLACK_APP_TOKEN',
  'SLACK_SIGNING_SECRET',
  'CLOUD_API_KEY_ID',
  'CLOUD_API_KEY_SECRET',
  'ALERTS_API_TOKEN',
  'ALERTS_WEBHOOK_SECRET',
  'DATABASE_URL',
  'SIGNALBOX_KEY',
  'SIGNALBOX_PREVIOUS_KEYS',
  'OTEL_EXPORTER_OTLP_HEADERS',
  'OTEL_EXPORTER_OTLP_TRACES_HEADERS',
];

const CLOUD_KEY = { CLOUD_API_KEY_ID: true, CLOUD_API_KEY_SECRET: true } as const;
const CloudKey = Variables.pick(CLOUD_KEY);
const Others = Variables.omit(CLOUD_KEY);
type KeyVariable = keyof typeof CLOUD_KEY;

/** `CLOUD_API_KEY_ID_PROD_EU` for the organization `prod-eu`; null: the only one, which has no name. */
export function keyVariable(name: KeyVariable, organization: string | null): string {
  return organization === null
    ? name
    : `${name}_${organization.toUpperCase().replaceAll('-', '_')}`;
}

const NAMED_KEY = /^(CLOUD_API_KEY_(?:ID|SECRET))_/;

/** A variable whose value can come from a file. */
function mayBeFile(name: string): boolean {
  return FROM_FILES.includes(name) || NAMED_KEY.test(name);
}

function port() {
  return z
    .string()
    .regex(/^\d{1,5}$/, 'must be a port number')
    .transform(Number)
    .refine((value) => value <= 65_535, { error: 'must be at most 65535' });
}

// No problem quotes a value: a secret in the wrong variable must not appear in a log.
export function choice<const Words extends readonly string[]>(...words: Words) {
  return z.enum(words, { error: withHint('is not a known word', `one of: ${words.join(', ')}`) });
}

function variable(meaning: string) {
  return z.string({ error: withHint('is not set', meaning) });
}

function secret(meaning: string) {
  return variable(meaning)
    .regex(/^\S+$/, 'must not contain spaces or line breaks')
    .transform((text) => new Secret(text));
}

function token(start: string, meaning: string) {
  return variable(meaning)
    .regex(new RegExp(`^${start}\\S+$`), withHint(`must begin with ${start}`, meaning))
    .transform((text) => new Secret(text));
}

function address(meaning: string) {
  return variable(meaning).superRefine((text, context) => {
    const message = addressProblem(text);
    if (message !== null) context.addIssue({ code: 'custom', message });
  });
}

function addressProblem(text: string): string | null {
  const problem = urlProblem(text);
  if (problem !== null) return problem;
  const { protocol, hostname } = new URL(text);
  if (protocol === 'https:' || (protocol === 'http:' && isThisMachine(hostname))) return null;
  return withHint('must begin with https://', 'http is allowed for this machine only');
}

/** What is wrong with an address, whatever its protocol. */
export function urlProblem(text: string): string | null {
  if (!URL.canParse(text)) return withHint('must be an address', 'https://…');
  const { username, password, search, hash } = new URL(text);
  if (username + password !== '') return 'must not contain a user or a password';
  return search + hash === '' ? null : 'must not contain a query or a fragment';
}

function isKey(text: string): boolean {
  const bytes = Buffer.from(text, 'base64');
  // The decoder ignores invalid characters, so the text is compared with its re-encoding.
  return bytes.length === 32 && bytes.toString('base64') === text;
}

export type Environment = z.output<typeof Others> & {
  /** Of each organization, in the order of their names. */
  readonly keys: readonly z.output<typeof CloudKey>[];
};

/**
 * Reads and validates all variables, without white space around a value. Empty ones count as not set.
 * `organizations`: the names whose keys are read; none where there is one organization without a name.
 */
export function readEnvironment(
  env: Env,
  readFile: ReadFile,
  organizations: readonly string[] = [],
): ConfigResult<Environment> {
  const { reading, unread } = readVariables(Others, env, readFile);
  const names = organizations.length > 0 ? organizations : [null];
  const keys = names.map((name) =>
    readVariables(CloudKey, env, readFile, (variable) =>
      keyVariable(variable as KeyVariable, name),
    ),
  );
  const problems = [
    ...[{ reading, unread }, ...keys].flatMap((each) => [...each.unread, ...problemsOf(each)]),
    ...unpaired(env),
    ...(reading.ok ? samePort(reading.value) : []),
    ...databaseProblems(env, readFile),
    ...keyProblems(env, readFile),
    ...foreign(env),
  ];
  if (reading.ok && problems.length === 0) {
    const read = keys.flatMap((key) => (key.reading.ok ? [key.reading.value] : []));
    return { ok: true, value: { ...withDatabaseUrl(reading.value), keys: read } };
  }
  return { ok: false, problems: problems.toSorted((a, b) => rank(a) - rank(b)) };
}

/** Without those of a file that could not be read, which have a problem already. */
function problemsOf({ reading, unread }: ReturnType<typeof readVariables>) {
  const named = new Set(unread.map(({ where }) => where));
  return reading.ok ? [] : reading.problems.filter(({ where }) => !named.has(where));
}

function samePort({ PORT, OPS_PORT }: Pick<Environment, 'PORT' | 'OPS_PORT'>) {
  if (PORT !== OPS_PORT || PORT === 0) return [];
  const hint = 'set another port, or remove OPS_PORT to use PORT for both';
  return [{ where: 'OPS_PORT', problem: 'must not be the same as PORT', hint }];
}

function unpaired(env: Env): readonly ConfigProblem[] {
  const alerts = ['ALERTS_API_URL', 'ALERTS_API_TOKEN'] as const;
  const delivery = 'SLACK_APP_TOKEN for Socket Mode, or SLACK_SIGNING_SECRET for HTTP';
  const isDelivered = isSet('SLACK_APP_TOKEN', env) || isSet('SLACK_SIGNING_SECRET', env);
  return [
    ...(isDelivered ? [] : [{ where: 'SLACK_APP_TOKEN', problem: 'is not set', hint: delivery }]),
    ...[alerts, alerts.toReversed()].flatMap(([set = '', unset = '']) => {
      if (!isSet(set, env) || isSet(unset, env)) return [];
      const hint = 'set both, or neither to switch off alert commands';
      return [{ where: unset, problem: `is not set, but ${set} is`, hint }];
    }),
  ];
}

// Variables without this prefix can belong to other programs.
function foreign(env: Env): readonly ConfigProblem[] {
  const known = [...VARIABLE_NAMES, ...FROM_FILES.map((name) => `${name}_FILE`)];
  return Object.keys(env)
    .filter((name) => name.startsWith('SIGNALBOX_') && !known.includes(name))
    .map((where) => {
      const [near] = nearest(where, known, 1);
      const hint = near === undefined ? null : `did you mean ${near}?`;
      return { where, problem: 'is not a known variable', hint };
    });
}

// The order of the variable table; unknown variables come last.
function rank({ where }: ConfigProblem): number {
  const [, of = where] = NAMED_KEY.exec(where) ?? [];
  return VARIABLE_NAMES.includes(of) ? VARIABLE_NAMES.indexOf(of) : VARIABLE_NAMES.length;
}

// A value of another form is a problem of its own.
function databaseProblems(env: Env, readFile: ReadFile): readonly ConfigProblem[] {
  const { value } = lookUp('DATABASE_URL', env, readFile);
  if (value === null || !Variables.shape.DATABASE_URL.safeParse(value).success) return [];
  const isInsecureAllowed = lookUp('DATABASE_INSECURE', env, readFile).value === 'allowed';
  return [databaseUrlProblem(value, isInsecureAllowed) ?? []].flat();
}

/** A key file next to the database, as SQLite has it, could not be read by a replica on another machine. */
function keyProblems(env: Env, readFile: ReadFile): readonly ConfigProblem[] {
  const { value } = lookUp('DATABASE_URL', env, readFile);
  if (!value?.startsWith('postgres') || isSet('SIGNALBOX_KEY', env)) return [];
  const problem = 'is not set, which PostgreSQL needs';
  return [{ where: 'SIGNALBOX_KEY', problem, hint: '32 bytes: openssl rand -base64 32' }];
}

const Store = Variables.pick({
  DATABASE_URL: true,
  DATABASE_INSECURE: true,
  SIGNALBOX_KEY: true,
  SIGNALBOX_PREVIOUS_KEYS: true,
});

/** Reads only the database URL and the keys of the log, for commands that do not use Slack. */
export function readStore(env: Env, readFile: ReadFile): ConfigResult<z.output<typeof Store>> {
  const { reading, unread } = readVariables(Store, env, readFile);
  const problems = [...unread, ...databaseProblems(env, readFile)];
  if (problems.length > 0) return { ok: false, problems };
  return reading.ok ? { ok: true, value: withDatabaseUrl(reading.value) } : reading;
}

function withDatabaseUrl<Values extends Pick<Environment, 'DATABASE_URL' | 'DATABASE_INSECURE'>>(
  values: Values,
): Values {
  const url = withExplicitTls(values.DATABASE_URL.reveal(), values.DATABASE_INSECURE === 'allowed');
  return { ...values, DATABASE_URL: new Secret(url) };
}

/**
 * Reads the variables of a schema. `unread`: the problems of files that could not be read. The value
 * of a variable comes from the variable that `sourceOf` names.
 */
export function readVariables<Value>(
  schema: z.ZodType<Value> & { readonly shape: object },
  env: Env,
  readFile: ReadFile,
  sourceOf = (name: string) => name,
) {
  const found = Object.keys(schema.shape).map((name) => {
    return { name, ...lookUp(sourceOf(name), env, readFile) };
  });
  const values = found.flatMap(({ name, value }) => (value === null ? [] : [[name, value]]));
  const parsed = parseConfig(schema, Object.fromEntries(values));
  const reading: typeof parsed = parsed.ok
    ? parsed
    : {
        ok: false,
        problems: parsed.problems.map((one) => ({ ...one, where: sourceOf(one.where) })),
      };
  return { reading, unread: found.flatMap(({ problem }) => problem ?? []) };
}

/** Whether the variable has a value, directly or by a file. */
export function isSet(name: string, env: Env): boolean {
  return Boolean(env[name]?.trim() || (mayBeFile(name) && env[`${name}_FILE`]));
}

/** The value of a variable, or the content of the file that its _FILE variable names. */
function lookUp(name: string, env: Env, readFile: ReadFile) {
  const direct = env[name]?.trim() || null;
  const path = mayBeFile(name) ? env[`${name}_FILE`] || null : null;
  if (path === null) return { value: direct, problem: null };
  if (direct !== null) {
    const problem = `is set twice, here and by ${name}_FILE`;
    return { value: null, problem: { where: name, problem, hint: 'remove one of them' } };
  }
  return fromFile(name, path, readFile);
}

function fromFile(name: string, path: string, readFile: ReadFile) {
  const problemOf = (why: string) => {
    const hint = `correct ${name}_FILE or the file`;
    return { where: name, problem: `its file, named by ${name}_FILE, ${why}`, hint };
  };
  const read = readAs(path, readFile, (reason) => problemOf(`cannot be read (${reason})`));
  if (!read.ok) return { value: null, problem: read.problems[0] ?? null };
  const value = read.value.trim();
  return value === '' ? { value: null, problem: problemOf('is empty') } : { value, problem: null };
}

/** A file as text, or the problem that it cannot be read for this reason. */
export function readAs(
  path: string,
  readFile: ReadFile,
  problemOf: (reason: string) => ConfigProblem,
): ConfigResult<string> {
  try {
    return { ok: true, value: readFile(path) };
  } catch (error) {
    return { ok: false, problems: [problemOf(reasonOf(error))] };
  }
}

/** The system code of a read error, without path and stack. */
export function reasonOf(error: unknown): string {
  const code = error instanceof Error && 'code' in error ? error.code : null;
  return typeof code === 'string' ? code : 'unknown error';
}

const ONE_SERVER = 'must be the address of one server';
const PLAIN = ['disable', 'no-verify'];
const VERIFIED = ['prefer', 'require', 'verify-ca', 'verify-full'];
const KNOWN = [...PLAIN, ...VERIFIED];

/**
 * What is wrong with the address of a PostgreSQL server, or null. Without TLS, or without a verified
 * certificate, the password and the approvals of another machine could be read and changed on their
 * way; `isInsecureAllowed` permits it.
 */
export function databaseUrlProblem(text: string, isInsecureAllowed: boolean): ConfigProblem | null {
  if (text.startsWith('file:')) return null;
  const problem = (says: string, hint: string) => ({ where: 'DATABASE_URL', problem: says, hint });
  const address = serverAddress(text);
  const host = address?.url.searchParams.get('host') ?? address?.url.hostname ?? '';
  if (address === null || host === '' || host.includes(',')) {
    return problem(ONE_SERVER, 'postgres://user:password@host:5432/database');
  }
  const { searchParams } = address.url;
  if (searchParams.has('ssl') || searchParams.has('uselibpqcompat')) {
    return problem('must not contain ssl or uselibpqcompat', 'use sslmode=verify-full');
  }
  const mode = searchParams.get('sslmode') ?? 'verify-full';
  if (!KNOWN.includes(mode)) return problem('has an unknown sslmode', 'use sslmode=verify-full');
  if (address.isLocal || isInsecureAllowed || !PLAIN.includes(mode)) return null;
  return problem(
    `has sslmode=${mode}, so that others on the network could read and change what is sent`,
    'use sslmode=verify-full, or set DATABASE_INSECURE=allowed for a network that you trust',
  );
}

/**
 * The address with an explicit `sslmode`: verify-full where TLS is requested in any form, and by
 * default for another machine. Source: docs/database.md#tls-to-the-database.
 */
export function withExplicitTls(text: string, isInsecureAllowed: boolean): string {
  const address = serverAddress(text);
  if (address === null) return text;
  const { url, isLocal } = address;
  const mode = url.searchParams.get('sslmode');
  if (mode === null && (isLocal || isInsecureAllowed)) return text;
  if (mode === null || VERIFIED.includes(mode)) url.searchParams.set('sslmode', 'verify-full');
  return url.href;
}

/**
 * Null for SQLite and for an address that cannot be read. `isLocal`: a socket of this machine, or a
 * loopback address.
 */
export function serverAddress(text: string) {
  if (text.startsWith('file:') || !URL.canParse(text)) return null;
  const url = new URL(text);
  const host = decodeURIComponent(url.searchParams.get('host') ?? url.hostname);
  return { url, isLocal: host.startsWith('/') || isThisMachine(host) };
}
