import { isJson, type Json } from '../json.ts';
import { formatValue } from './replies.ts';

/** Returns the text of the problem with a value, or null. */
export type Rule = (value: unknown) => string | null;
export type Rules = Readonly<Record<string, Rule>>;

/** The first problem of a body: `request body.numReplicas: … <number:0>`. Unknown fields are ignored. */
export function problemIn(
  body: Json,
  rules: Rules,
  required: readonly string[] = [],
): string | null {
  const missing = required.find((field) => body[field] === undefined);
  if (missing !== undefined) return `request body.${missing}: is required`;
  for (const [field, value] of Object.entries(body)) {
    const problem = (Object.hasOwn(rules, field) && rules[field]?.(value)) || null;
    if (problem !== null) return fieldProblem(field, problem, value);
  }
  return null;
}

export function fieldProblem(field: string, text: string, value: unknown): string {
  return `request body.${field}: ${text} ${formatValue(value)}`;
}

export function oneOf(allowed: readonly string[]): Rule {
  return (value) =>
    typeof value === 'string' && allowed.includes(value)
      ? null
      : `must be one of ${allowed.join(', ')}`;
}

export const booleanRule: Rule = (value) =>
  typeof value === 'boolean' ? null : 'must be a boolean';

export function stringRule(max = Number.POSITIVE_INFINITY): Rule {
  return (value) => {
    if (typeof value !== 'string') return 'must be a string';
    return [...value].length > max ? `must have at most ${max} characters` : null;
  };
}

export function nullable(rule: Rule): Rule {
  return (value) => (value === null ? null : rule(value));
}

export function matchesPattern(pattern: RegExp, words: string, rule: Rule): Rule {
  return (value) =>
    rule(value) ?? (typeof value === 'string' && pattern.test(value) ? null : words);
}

interface NumberLimits {
  readonly min: number;
  readonly max?: number;
  readonly step?: number;
}

export function numberFrom({ min, max = Number.POSITIVE_INFINITY, step }: NumberLimits): Rule {
  return (value) => {
    if (typeof value !== 'number') return 'must be a number';
    if (value < min) return `The number must be ${min} or more`;
    if (value > max) return `The number must be ${max} or less`;
    if (step !== undefined && value % step !== 0) return `The number must be a multiple of ${step}`;
    return null;
  };
}

export function listOf(item: Rule): Rule {
  return (value) => {
    if (!Array.isArray(value)) return 'must be a list';
    return value.map(item).find((problem) => problem !== null) ?? null;
  };
}

export function shaped(rules: Rules): Rule {
  return (value) => {
    if (!isJson(value)) return 'must be an object';
    for (const [field, rule] of Object.entries(rules)) {
      const problem = rule(value[field]);
      if (problem !== null) return `${field} ${problem}`;
    }
    return null;
  };
}
