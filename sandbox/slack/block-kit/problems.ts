import type { z } from 'zod';

/** One reason why Slack refuses a payload; `pointer` is a JSON pointer into the request. */
export type Problem = ReturnType<typeof problemOf>;

type Issue = z.core.$ZodIssue;

/** The problems of a value that does not fit the schema; `root` is the pointer to the value. */
export function problemsIn(schema: z.ZodType, value: unknown, root: string): Problem[] {
  const read = schema.safeParse(value, { reportInput: true });
  return read.success ? [] : read.error.issues.map((issue) => problemOf(issue, root));
}

/** A zod issue for a rule about several fields; `message` is the text of Slack's reply. */
export function ruleBroken(code: string, message: string, path: PropertyKey[] = []) {
  return { code: 'custom' as const, message, path, params: { code } };
}

function problemOf(issue: Issue, root: string) {
  if (isMissing(issue)) {
    const parent = issue.path.slice(0, -1);
    const field = String(issue.path.at(-1));
    return {
      pointer: pointerTo(root, parent),
      code: 'missing_field',
      message: `missing required field: ${field}`,
    };
  }
  return { pointer: pointerTo(root, issue.path), ...reasonOf(issue) };
}

function isMissing(issue: Issue): boolean {
  if (issue.path.length === 0 || issue.input !== undefined) return false;
  return issue.code === 'invalid_type' || issue.code === 'invalid_value';
}

function reasonOf(issue: Issue): { code: string; message: string } {
  switch (issue.code) {
    case 'too_big':
      return { code: 'too_long', message: tooBig(issue.origin, Number(issue.maximum)) };
    case 'too_small':
      return { code: 'too_short', message: tooSmall(issue.origin, Number(issue.minimum)) };
    case 'invalid_type':
      return { code: 'wrong_type', message: wrongType(issue.expected) };
    case 'unrecognized_keys':
      return { code: 'unknown_field', message: `additional property: ${issue.keys.join(', ')}` };
    case 'invalid_union':
      return { code: 'unsupported_type', message: unsupported(shown(issue.input)) };
    case 'custom':
      return { code: String(issue.params?.code ?? 'invalid'), message: issue.message };
    default:
      return { code: 'invalid_value', message: 'invalid value' };
  }
}

/** What Slack knows, and Signalbox does not send. */
const NOT_SIMULATED =
  `users_select channels_select multi_static_select multi_external_select multi_users_select
  multi_conversations_select multi_channels_select datepicker timepicker datetimepicker checkboxes
  radio_buttons email_text_input url_text_input rich_text_input file_input image video file markdown
  context_actions carousel card`.split(/\s+/);

function unsupported(type: string): string {
  return NOT_SIMULATED.includes(type) ? `${type}: not simulated` : `unsupported type: ${type}`;
}

function tooBig(origin: string, maximum: number): string {
  if (origin === 'string') return `must be less than ${maximum + 1} characters`;
  if (origin === 'array') return `no more than ${maximum} items allowed`;
  return `must be less than or equal to ${maximum}`;
}

function tooSmall(origin: string, minimum: number): string {
  if (origin === 'string') return `must be more than ${minimum - 1} characters`;
  if (origin === 'array') return `must have at least ${minimum} items`;
  return `must be greater than or equal to ${minimum}`;
}

function wrongType(expected: string): string {
  return expected === 'object' ? 'must provide an object' : `must provide a value of ${expected}`;
}

function shown(input: unknown): string {
  if (typeof input !== 'object' || input === null) return typeof input;
  return 'type' in input ? String(input.type) : 'nothing';
}

function pointerTo(root: string, path: readonly PropertyKey[]): string {
  return [root, ...path.map(String)].join('/');
}
