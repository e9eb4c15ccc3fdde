import type { z } from 'zod';
import { Secret } from '../base/errors.ts';
import {
  type ConfigProblem,
  type ConfigResult,
  nearestWord,
  parseConfig,
} from '../base/problem.ts';
import { databaseUrlProblem, withExplicitTls } from './database-url.ts';
import { FROM_FILES, NAMES, Variables } from './variables.ts';

export type Env = Readonly<Record<string, string | undefined>>;
export type ReadFile = (path: string) => string;
export type Environment = z.output<typeof Variables>;

/** Reads and validates all variables. Empty variables count as not set. */
export function readEnvironment(env: Env, readFile: ReadFile): ConfigResult<Environment> {
  const found = NAMES.map((name) => ({ name, ...lookUp(name, env, readFile) }));
  const values = found.flatMap(({ name, value }) => (value === null ? [] : [[name, value]]));
  const reading = parseConfig(Variables, Object.fromEntries(values));
  const unread = found.flatMap(({ problem }) => problem ?? []);
  const named = new Set(unread.map(({ where }) => where));
  const problems = [
    ...unread,
    ...(reading.ok ? [] : reading.problems.filter(({ where }) => !named.has(where))).map(
      (problem) => withNearMiss(problem, env),
    ),
    ...unpaired(env),
    ...(reading.ok ? samePort(reading.value) : []),
    ...databaseProblems(env, readFile),
    ...foreign(env),
  ];
  if (reading.ok && problems.length === 0) {
    return { ok: true, value: withDatabaseUrl(reading.value) };
  }
  return { ok: false, problems: problems.toSorted((a, b) => rank(a) - rank(b)) };
}

// A value of another form is a problem of its own.
function databaseProblems(env: Env, readFile: ReadFile): readonly ConfigProblem[] {
  const { value } = lookUp('DATABASE_URL', env, readFile);
  if (value === null || !Variables.shape.DATABASE_URL.safeParse(value).success) return [];
  return [databaseUrlProblem(value, isInsecureAllowed(env)) ?? []].flat();
}

function isInsecureAllowed(env: { readonly DATABASE_INSECURE?: string | undefined }): boolean {
  return env.DATABASE_INSECURE === 'allowed';
}

function withDatabaseUrl<Values extends Pick<Environment, 'DATABASE_URL' | 'DATABASE_INSECURE'>>(
  values: Values,
): Values {
  const url = withExplicitTls(values.DATABASE_URL.reveal(), isInsecureAllowed(values));
  return { ...values, DATABASE_URL: new Secret(url) };
}

const Store = Variables.pick({
  DATABASE_URL: true,
  DATABASE_INSECURE: true,
  SIGNALBOX_KEY: true,
  SIGNALBOX_PREVIOUS_KEYS: true,
});

/** Only the database URL and the audit keys, for tools that do not use Slack. */
export function readStore(env: Env, readFile: ReadFile): ConfigResult<z.output<typeof Store>> {
  const found = Object.keys(Store.shape).map((name) => ({ name, ...lookUp(name, env, readFile) }));
  const unread = [
    ...found.flatMap(({ problem }) => problem ?? []),
    ...databaseProblems(env, readFile),
  ];
  if (unread.length > 0) return { ok: false, problems: unread };
  const values = found.flatMap(({ name, value }) => (value === null ? [] : [[name, value]]));
  const reading = parseConfig(Store, Object.fromEntries(values));
  return reading.ok ? { ok: true, value: withDatabaseUrl(reading.value) } : reading;
}

// The order of the variable table; unknown variables come last.
function rank({ where }: ConfigProblem): number {
  return NAMES.includes(where) ? NAMES.indexOf(where) : NAMES.length;
}

export function isSet(name: string, env: Env): boolean {
  return Boolean(env[name] || (FROM_FILES.includes(name) && env[`${name}_FILE`]));
}

interface VariableLookup {
  readonly value: string | null;
  readonly problem: ConfigProblem | null;
}

/** The value of a variable, or the content of the file that its _FILE variable names. */
export function lookUp(name: string, env: Env, readFile: ReadFile): VariableLookup {
  const direct = env[name] || null;
  const path = FROM_FILES.includes(name) ? env[`${name}_FILE`] || null : null;
  if (path === null) return { value: direct, problem: null };
  if (direct !== null) {
    const problem = `is set twice, here and by ${name}_FILE`;
    return { value: null, problem: { where: name, problem, hint: 'remove one of them' } };
  }
  return fromFile(name, path, readFile);
}

function fromFile(name: string, path: string, readFile: ReadFile): VariableLookup {
  const hint = `correct ${name}_FILE or the file`;
  const unusable = (why: string) => ({
    value: null,
    problem: { where: name, problem: `its file, named by ${name}_FILE, ${why}`, hint },
  });
  try {
    const value = readFile(path).trim();
    return value === '' ? unusable('is empty') : { value, problem: null };
  } catch (error) {
    return unusable(`cannot be read (${reasonOf(error)})`);
  }
}

/** The system code of a read error, without path and stack. */
export function reasonOf(error: unknown): string {
  const code = error instanceof Error && 'code' in error ? error.code : null;
  return typeof code === 'string' ? code : 'unknown error';
}

function withNearMiss(problem: ConfigProblem, env: Env): ConfigProblem {
  if (problem.problem !== 'is not set') return problem;
  const others = Object.keys(env).filter((name) => !NAMES.includes(name) && env[name]);
  const near = nearestWord(problem.where, others);
  return near === null ? problem : { ...problem, hint: `did you mean ${near}, which is set?` };
}

function samePort({ PORT, OPS_PORT }: Pick<Environment, 'PORT' | 'OPS_PORT'>) {
  if (PORT !== OPS_PORT || PORT === 0) return [];
  const hint = 'set another port, or remove OPS_PORT to use PORT for both';
  return [{ where: 'OPS_PORT', problem: 'must not be the same as PORT', hint }];
}

function unpaired(env: Env): readonly ConfigProblem[] {
  const problems: ConfigProblem[] = [];
  if (!isSet('SLACK_APP_TOKEN', env) && !isSet('SLACK_SIGNING_SECRET', env)) {
    const hint = 'SLACK_APP_TOKEN for Socket Mode, or SLACK_SIGNING_SECRET for HTTP';
    problems.push({ where: 'SLACK_APP_TOKEN', problem: 'is not set', hint });
  }
  const [set, unset] = isSet('ALERTS_API_URL', env)
    ? ['ALERTS_API_URL', 'ALERTS_API_TOKEN']
    : ['ALERTS_API_TOKEN', 'ALERTS_API_URL'];
  if (isSet(set, env) && !isSet(unset, env)) {
    const problem = `is not set, but ${set} is`;
    problems.push({
      where: unset,
      problem,
      hint: 'set both, or neither to switch off alert commands',
    });
  }
  return problems;
}

// Variables without this prefix can belong to other programs.
function foreign(env: Env): readonly ConfigProblem[] {
  const known = [...NAMES, ...FROM_FILES.map((name) => `${name}_FILE`)];
  return Object.keys(env)
    .filter((name) => name.startsWith('SIGNALBOX_') && !known.includes(name))
    .map((where) => {
      const near = nearestWord(where, known);
      const hint = near === null ? null : `did you mean ${near}?`;
      return { where, problem: 'is not a known variable', hint };
    });
}
