import { type ConfigResult, quoted } from '../policy/problem.ts';
import { Duration } from '../policy/time.ts';
import { parseOptions, unknownCommand } from './parse-options.ts';

export const POLICY_USAGE = `signalbox policy test <cases.yaml> [--config <file>]
    Decides the cases of a file by signalbox.yaml and compares each decision with the expected one.
    Reads no database and asks no Slack: user groups cannot be read, so cases give roles.
    --config  the configuration file; default SIGNALBOX_CONFIG, else ./signalbox.yaml

signalbox policy replay --with <file> [--since 90d] [--accept <ids>|all] [--accept-file <file>]
    Decides the recorded requests of the last days by another configuration file, and lists those
    that the file decides otherwise. It only reads the database, also while Signalbox runs.
    --with         the configuration file that decides
    --since        how far to go back: 30m, 4h or 90d, at most 365d; default 90d
    --accept       the differences that are intended: change ids and event-<number>, with commas; or all
    --accept-file  a file with one such id per line; text after # is a comment

replay reads DATABASE_URL from the environment, like Signalbox. No other variable is needed.
Exit code: 0 no difference, 1 a difference, 2 wrong options, files or database.
`;

/** `all`, or the ids of the accepted differences. */
export type AcceptedIds = 'all' | readonly string[];

export interface ReplayRequest {
  readonly kind: 'replay';
  readonly file: string;
  readonly sinceMs: number;
  readonly accept: AcceptedIds;
  readonly acceptFile: string | null;
}

export type PolicyRequest =
  | { readonly kind: 'help' }
  | { readonly kind: 'test'; readonly cases: string; readonly config: string | null }
  | ReplayRequest;

type PolicyOptions =
  | { readonly ok: true; readonly request: PolicyRequest }
  | { readonly ok: false; readonly sentence: string };

const OPTIONS = {
  config: { type: 'string' },
  with: { type: 'string' },
  since: { type: 'string' },
  accept: { type: 'string' },
  'accept-file': { type: 'string' },
  help: { type: 'boolean' },
} as const;

const OPTIONS_OF: Readonly<Record<string, readonly string[]>> = {
  test: ['config'],
  replay: ['with', 'since', 'accept', 'accept-file'],
};

export function readPolicyOptions(args: readonly string[]): PolicyOptions {
  const parsed = parseOptions(args, OPTIONS);
  if ('sentence' in parsed) return { ok: false, sentence: parsed.sentence };
  const { values, positionals } = parsed;
  const [what = '', ...words] = positionals;
  if (values.help || what === 'help' || args.length === 0) return accepted({ kind: 'help' });
  const known = OPTIONS_OF[what];
  if (!known) return rejected(unknownCommand(what, Object.keys(OPTIONS_OF)));
  const foreign = Object.keys(values).find((name) => !known.includes(name));
  if (foreign) return rejected(`${what} does not take --${foreign}.`);
  return what === 'test' ? testOptions(words, values.config ?? null) : replayOptions(words, values);
}

function testOptions(words: readonly string[], config: string | null): PolicyOptions {
  const [cases, ...more] = words;
  if (cases === undefined) return rejected('test needs a file of cases, for example cases.yaml.');
  if (more.length > 0) return rejected(`Unexpected argument: ${quoted(more.join(' '))}.`);
  return accepted({ kind: 'test', cases, config });
}

interface ReplayValues {
  readonly with?: string | undefined;
  readonly since?: string | undefined;
  readonly accept?: string | undefined;
  readonly 'accept-file'?: string | undefined;
}

function replayOptions(words: readonly string[], values: ReplayValues): PolicyOptions {
  const { with: file, since = '90d', accept: ids = '', 'accept-file': acceptFile = null } = values;
  if (words.length > 0) return rejected(`Unexpected argument: ${quoted(words.join(' '))}.`);
  if (file === undefined)
    return rejected('replay needs --with, for example --with signalbox.yaml.');
  const span = Duration.safeParse(since);
  if (!span.success) return rejected(`--since must be a duration, for example 90d, not ${since}.`);
  const accept = ids === 'all' ? ids : ids.split(',').flatMap((id) => id.trim() || []);
  const wrong = accept === 'all' ? undefined : accept.find((id) => !isAcceptedId(id));
  if (wrong) return rejected(`--accept: ${idProblem(wrong)}.`);
  return accepted({ kind: 'replay', file, sinceMs: span.data, accept, acceptFile });
}

/** Reads a list of accepted differences: one id per line, with comments after #. */
export function readAcceptList(text: string, file: string): ConfigResult<readonly string[]> {
  const lines = text.split(/\r?\n/).map((line, index) => {
    return { where: `${file}:${index + 1}`, id: line.replace(/#.*/, '').trim() };
  });
  const given = lines.filter(({ id }) => id !== '');
  const problems = given
    .filter(({ id }) => !isAcceptedId(id))
    .map(({ where, id }) => ({ where, problem: idProblem(id), hint: null }));
  if (problems.length > 0) return { ok: false, problems };
  return { ok: true, value: given.map(({ id }) => id) };
}

function isAcceptedId(id: string): boolean {
  return /^([0-9A-Z]{6}|event-\d{1,15})$/.test(id);
}

function idProblem(id: string): string {
  return `${quoted(id)} is no id of a difference, for example 7KQ2MX or event-1204`;
}

function accepted(request: PolicyRequest): PolicyOptions {
  return { ok: true, request };
}

function rejected(sentence: string): PolicyOptions {
  return { ok: false, sentence };
}
