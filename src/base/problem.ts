// Reads a configuration file, and reports its problems with their place and what to do.

import {
  type Document,
  isMap,
  isNode,
  LineCounter,
  parseDocument,
  visit,
  type YAMLError,
} from 'yaml';
import { z } from 'zod';
import { isDay } from './calendar.ts';
import { nearest } from './text.ts';
import { DAY_MS, isTimeZone, spanMs } from './time.ts';

/** A problem of the configuration: the path of the value, the problem, and what to do. */
export interface ConfigProblem {
  readonly where: string;
  readonly problem: string;
  readonly hint: string | null;
}

export type ConfigResult<Value> =
  | { readonly ok: true; readonly value: Value }
  | { readonly ok: false; readonly problems: readonly ConfigProblem[] };

/** The content of one YAML document, or its problems with line and column. */
export function readYaml(text: string, path: string): ConfigResult<unknown> {
  const lineCounter = new LineCounter();
  const document = parseDocument(text, { lineCounter, uniqueKeys: true, logLevel: 'error' });
  // Warnings (unknown tags, lists as keys) count as errors, because the content would be wrong.
  const faults = [...document.errors, ...document.warnings];
  const problems = [
    ...faults.map((fault) => problemOf(fault, path)),
    ...prototypeKeys(document, (at) => placeOf(path, lineCounter.linePos(at))),
  ];
  return problems.length > 0 ? { ok: false, problems } : contentOf(document, path);
}

function contentOf(document: Document, path: string): ConfigResult<unknown> {
  try {
    return { ok: true, value: document.toJS() };
  } catch (error) {
    // The parser limits the expansion of aliases and throws beyond it.
    const problem = error instanceof Error ? error.message : 'cannot be read';
    return { ok: false, problems: [{ where: path, problem, hint: null }] };
  }
}

function problemOf({ code, message, linePos }: YAMLError, path: string): ConfigProblem {
  const where = placeOf(path, linePos?.[0]);
  if (code === 'MULTIPLE_DOCS') {
    return { where, problem: 'must be one document', hint: 'remove the line ---' };
  }
  const [first = 'is not valid YAML'] = message.split('\n');
  const problem = first.replace(/ at line \d+, column \d+:?$/, '').replace(/\p{C}/gu, '?');
  return { where, problem: problem.slice(0, 200), hint: HINTS[code] ?? null };
}

const HINTS: Readonly<Record<string, string>> = {
  BAD_SCALAR_START: "put names that begin with @ or # in quotes: '@db-leads'",
  DUPLICATE_KEY: 'remove one of them',
  TAB_AS_INDENT: 'indent with spaces',
};

// JavaScript treats `__proto__` specially, and schemas would ignore the key silently.
function prototypeKeys(
  document: Document,
  place: (at: number) => string,
): readonly ConfigProblem[] {
  const problems: ConfigProblem[] = [];
  visit(document, {
    Scalar: (key, { value, range }) => {
      if (key !== 'key' || value !== '__proto__') return;
      const problem = `is not a known key: ${quoted(value)}`;
      problems.push({ where: place(range?.[0] ?? 0), problem, hint: null });
    },
  });
  return problems;
}

function placeOf(path: string, at: { line: number; col: number } | undefined): string {
  return at === undefined ? path : `${path}:${at.line}:${at.col}`;
}

/** Returns the value that the schema reads, or every problem of the input. */
export function parseConfig<Value>(schema: z.ZodType<Value>, input: unknown): ConfigResult<Value> {
  const result = schema.safeParse(input, { error: explain, reportInput: false });
  if (result.success) return { ok: true, value: result.data };
  return { ok: false, problems: result.error.issues.flatMap(problemsOf) };
}

function problemsOf(issue: z.core.$ZodIssue): readonly ConfigProblem[] {
  if (issue.code === 'unrecognized_keys') {
    const known = issue.message.split(' ');
    return issue.keys.map((key) => ({
      where: pathOf([...issue.path, key]),
      problem: 'is not a known key',
      hint: suggestion(key, known),
    }));
  }
  const message = issue.code === 'invalid_key' ? issue.issues[0]?.message : issue.message;
  const [problem = 'is not valid', hint = null] = (message ?? 'is not valid').split('\n');
  return [{ where: pathOf(issue.path), problem, hint }];
}

/** `policy[1].approvals.from` */
function pathOf(path: readonly PropertyKey[]): string {
  return path.map(String).reduce((text, key) => {
    if (/^\d+$/.test(key)) return `${text}[${key}]`;
    if (!/^[\w-]+$/.test(key)) return `${text}[${JSON.stringify(key.slice(0, 60))}]`;
    return text === '' ? key : `${text}.${key}`;
  }, '');
}

function explain(issue: z.core.$ZodRawIssue): string | undefined {
  if (issue.code === 'invalid_type') return wrongKind(issue.expected, issue.input);
  if (issue.code === 'invalid_value') return wrongValue(issue.values.map(String), issue.input);
  if (issue.code === 'too_small') {
    if (issue.origin === 'array') return 'must not be empty';
    return `must be ${issue.inclusive === false ? 'more than' : 'at least'} ${issue.minimum}`;
  }
  if (issue.code === 'too_big') return `must be at most ${issue.maximum}`;
  return undefined;
}

function wrongKind(expected: string, input: unknown): string {
  if (input === undefined) return 'is missing';
  // In YAML an unquoted # begins a comment, so that a channel name becomes empty.
  if (input === null) {
    return withHint('is empty', expected === 'string' ? "a name with # needs quotes: '#db'" : null);
  }
  if (expected === 'int') return 'must be a whole number';
  // YAML allows .inf and .nan as numbers.
  if (expected === 'number' && typeof input === 'number') return 'must be a finite number';
  const kind = Array.isArray(input) ? 'array' : typeof input;
  return `must be ${KINDS[expected] ?? expected}, not ${KINDS[kind] ?? kind}`;
}

const KINDS: Readonly<Record<string, string>> = {
  string: 'text',
  number: 'a number',
  boolean: 'true or false',
  array: 'a list',
  object: 'a set of keys',
  record: 'a set of keys',
};

function wrongValue(values: readonly string[], input: unknown): string {
  const given = input === null ? 'is empty' : `cannot be ${quoted(String(input))}`;
  const problem = input === undefined ? 'is missing' : given;
  return withHint(problem, `one of: ${values.join(', ')}`);
}

/** Returns the message of a schema: the problem, and a hint on the second line. */
export function withHint(problem: string, hint: string | null = null): string {
  return hint === null ? problem : `${problem}\n${hint}`;
}

/** Returns the schema of an object that refuses unknown keys. */
export function strictConfigObject<Shape extends z.ZodRawShape>(shape: Shape) {
  // A zod issue has the unknown keys but not the known ones, which the suggestion needs. They are
  // passed in the message of the issue.
  const known = Object.keys(shape).join(' ');
  return z.strictObject(shape, {
    error: (issue) => (issue.code === 'unrecognized_keys' ? known : undefined),
  });
}

/**
 * Returns the schema of a name that the file declares, or of a command. `otherwise` says where else a
 * name can be declared; it is shown unless the name resembles a known one.
 */
export function declaredName(what: string, known: readonly string[], otherwise?: string) {
  const hintFor = (word: string) => {
    const more = nearest(word, known).length === 0 && otherwise;
    return [suggestion(word, known), more].filter(Boolean).join('; ') || null;
  };
  return z.string().refine((word) => known.includes(word), {
    error: ({ input }) =>
      withHint(`names no ${what}: ${quoted(String(input))}`, hintFor(String(input))),
  });
}

/** Returns the hint for an unknown word: a known one that is similar, or the known ones. */
export function suggestion(word: string, known: readonly string[]): string | null {
  const [near] = nearest(word, known, 1);
  if (near !== undefined) return `did you mean ${quoted(near)}?`;
  if (known.length === 0) return null;
  const rest = known.length > 12 ? ' …' : '';
  return `known: ${known.slice(0, 12).join(', ')}${rest}`;
}

/** Quotes text of a user: cut, and without control characters for the terminal. */
export function quoted(text: string): string {
  const shown = text.length > 60 ? `${text.slice(0, 59)}…` : text;
  return `“${shown.replace(/\p{C}/gu, '?')}”`;
}

const LONGEST_MS = 365 * DAY_MS;

const AS_DURATION = withHint('must be a duration', 'for example 30m, 4h or 2d, at most 365d');

/** `30m`, `4h`, `2d` → milliseconds, from 1 minute to 365 days. */
export const Duration = z
  .string(AS_DURATION)
  .transform(spanMs)
  .refine((ms) => ms > 0 && ms <= LONGEST_MS, AS_DURATION);

const AS_INSTANT = withHint(
  'must be a date and time with its zone',
  'for example 2026-12-24T00:00Z or 2026-12-24T00:00+01:00',
);

/** A date and time with its zone, as text → Date. */
export const InstantTextSchema = z
  .union([z.iso.datetime({ offset: true }), z.iso.datetime({ offset: true, precision: -1 })], {
    error: ({ input }) => (input === undefined ? 'is missing' : AS_INSTANT),
  })
  .transform((text) => new Date(text));

/** A UTC day of the calendar, as `2026-01-31`. */
export const DayTextSchema = z.string().refine(isDay, {
  abort: true,
  error: ({ input }) =>
    withHint(`is not a day: ${quoted(String(input))}`, 'a UTC day, for example 2026-01-01'),
});

/**
 * Returns the problems with the line of each in the file: `cases.yaml:12 cases[2].command`. The line
 * of a missing key is the line of the set that lacks it. A syntax error has its line already.
 */
export function withLines(
  text: string,
  file: string,
  problems: readonly ConfigProblem[],
): readonly ConfigProblem[] {
  const lineOf = lineFinder(text);
  return problems.map((problem) => {
    const { where } = problem;
    // It has its file and line already, perhaps of an included file.
    if (where.startsWith(`${file}:`) || /^[^\s[\]]+:\d/.test(where)) return problem;
    const path = where === file ? '' : where;
    return { ...problem, where: `${file}:${lineOf(keysOf(path))} ${path}`.trimEnd() };
  });
}

/** Returns the line of the item with this index in the list under a key of the file. */
export function lineOfItem(text: string, key: string, index: number): number {
  return lineFinder(text)([key, String(index)]);
}

/** Finds the line of a key, or of an item of a list; of the nearest set around it where it is missing. */
function lineFinder(text: string): (keys: readonly string[]) => number {
  const lines = new LineCounter();
  const document = parseDocument(text, { lineCounter: lines, logLevel: 'silent' });
  return function lineOf(keys): number {
    const set = document.getIn(keys.slice(0, -1), true);
    const pair = isMap(set) && set.items.find(({ key }) => String(key) === keys.at(-1));
    const node = pair ? pair.key : document.getIn(keys, true);
    if (isNode(node) && node.range) return lines.linePos(node.range[0]).line;
    return keys.length === 0 ? 1 : lineOf(keys.slice(0, -1));
  };
}

// The inverse of `pathOf`: `policy[1].approvals.from` has the keys policy, 1, approvals, from.
function keysOf(path: string): readonly string[] {
  return [...path.matchAll(/\["((?:[^"\\]|\\.)*)"\]|\[(\d+)\]|([^.[\]]+)/g)].map(
    ([, quoted, index, key]) => quoted ?? index ?? key ?? '',
  );
}

/** A name of the time zone database. A fixed offset from UTC would ignore summer time. */
export const TimeZone = z.string().refine(isTimeZone, {
  error: ({ input }) => {
    const [near] = nearest(String(input), Intl.supportedValuesOf('timeZone'), 1);
    const other = /[+-]\d/.test(String(input)) ? BY_PLACE : 'for example Europe/Berlin';
    const hint = near === undefined ? other : `did you mean ${quoted(near)}?`;
    return withHint(`must name a place or UTC, not ${quoted(String(input))}`, hint);
  },
});

const BY_PLACE = 'for example Europe/Berlin, so that summer time applies';
