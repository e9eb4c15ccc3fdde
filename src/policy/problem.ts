import leven from 'leven';
import { z } from 'zod';

/** A problem of the configuration: the path of the value, the problem, and what to do. */
export interface ConfigProblem {
  readonly where: string;
  readonly problem: string;
  readonly hint: string | null;
}

export type ConfigResult<Value> =
  | { readonly ok: true; readonly value: Value }
  | { readonly ok: false; readonly problems: readonly ConfigProblem[] };

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
    const more = nearestWord(word, known) === null ? otherwise : undefined;
    return [suggestion(word, known), more].filter(Boolean).join('; ') || null;
  };
  return z.string().refine((word) => known.includes(word), {
    error: ({ input }) =>
      withHint(`names no ${what}: ${quoted(String(input))}`, hintFor(String(input))),
  });
}

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

const KINDS: Readonly<Record<string, string>> = {
  string: 'text',
  number: 'a number',
  boolean: 'true or false',
  array: 'a list',
  object: 'a set of keys',
  record: 'a set of keys',
};

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

function wrongValue(values: readonly string[], input: unknown): string {
  const given = input === null ? 'is empty' : `cannot be ${quoted(String(input))}`;
  const problem = input === undefined ? 'is missing' : given;
  return withHint(problem, `one of: ${values.join(', ')}`);
}

export function pathOf(path: readonly PropertyKey[]): string {
  return path.map(String).reduce((text, key) => {
    if (/^\d+$/.test(key)) return `${text}[${key}]`;
    if (!/^[\w-]+$/.test(key)) return `${text}[${JSON.stringify(key.slice(0, 60))}]`;
    return text === '' ? key : `${text}.${key}`;
  }, '');
}

/** Quotes text of a user: cut, and without control characters for the terminal. */
export function quoted(text: string): string {
  const shown = text.length > 60 ? `${text.slice(0, 59)}…` : text;
  return `“${shown.replace(/\p{C}/gu, '?')}”`;
}

export function suggestion(word: string, known: readonly string[]): string | null {
  const near = nearestWord(word, known);
  if (near !== null) return `did you mean ${quoted(near)}?`;
  if (known.length === 0) return null;
  const rest = known.length > 12 ? ' …' : '';
  return `known: ${known.slice(0, 12).join(', ')}${rest}`;
}

export function nearestWord(word: string, known: readonly string[]): string | null {
  const limit = word.length < 4 ? 1 : Math.max(2, Math.floor(word.length / 3));
  const ranked = known
    .map((candidate) => ({ candidate, distance: leven(word, candidate) }))
    .filter(({ distance }) => distance <= limit)
    .sort((a, b) => a.distance - b.distance);
  return ranked[0]?.candidate ?? null;
}
