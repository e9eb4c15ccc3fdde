import type { z } from 'zod';

const KINDS: Readonly<Record<string, string>> = {
  boolean: 'must be on or off',
  number: 'must be a number',
  int: 'must be a whole number',
};

/** The problem text for a zod issue whose schema has no own message; undefined: zod's text. */
export function problemOfIssue(issue: z.core.$ZodRawIssue): string | undefined {
  if (issue.code === 'invalid_value') return `must be ${oneOf(issue.values.map(String))}`;
  if (issue.code === 'invalid_type') return KINDS[issue.expected] ?? 'has the wrong type';
  if (issue.code === 'too_big')
    return `${most(issue.origin)} at most ${issue.maximum}${unit(issue.origin)}`;
  if (issue.code === 'too_small')
    return `${most(issue.origin)} at least ${issue.minimum}${unit(issue.origin)}`;
  return undefined;
}

/** `list, add or remove` */
export function oneOf(words: readonly string[]): string {
  const last = words.at(-1) ?? '';
  return words.length > 1 ? `${words.slice(0, -1).join(', ')} or ${last}` : last;
}

function most(origin: string): string {
  return origin === 'string' || origin === 'array' ? 'must have' : 'must be';
}

function unit(origin: string): string {
  if (origin === 'string') return ' characters';
  return origin === 'array' ? ' values' : '';
}
