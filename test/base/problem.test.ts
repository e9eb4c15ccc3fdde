import { expect, test } from 'vitest';
import { z } from 'zod';
import { parseConfig, quoted, strictConfigObject, suggestion } from '../../src/base/problem.ts';
import { nearest } from '../../src/base/text.ts';

function told(schema: z.ZodType, input: unknown): string | undefined {
  const reading = parseConfig(schema, input);
  if (reading.ok) return undefined;
  const [first] = reading.problems;
  return first && [first.problem, first.hint].filter((part) => part !== null).join(' · ');
}

test.for<[string, z.ZodType, unknown, string]>([
  ['text', z.string(), 3, 'must be text, not a number'],
  ['text, and finds a list', z.string(), ['a'], 'must be text, not a list'],
  ['a number', z.number(), 'x', 'must be a number, not text'],
  ['a whole number', z.int(), 1.5, 'must be a whole number'],
  ['a whole number, and finds text', z.int(), 'x', 'must be a number, not text'],
  ['a number, and finds none that can be counted', z.number(), NaN, 'must be a finite number'],
  ['a whole number, and finds one without end', z.int(), Infinity, 'must be a finite number'],
  ['a switch', z.boolean(), 'yes', 'must be true or false, not text'],
  ['text, and finds a switch', z.string(), true, 'must be text, not true or false'],
  ['keys', strictConfigObject({}), [], 'must be a set of keys, not a list'],
  ['keys of any name', z.record(z.string(), z.string()), 'x', 'must be a set of keys, not text'],
  ['a number, and finds nothing', z.number(), null, 'is empty'],
  ['a number, and finds no key', z.number(), undefined, 'is missing'],
  ['more than a number', z.number().gt(3), 3, 'must be more than 3'],
  ['a number at least', z.number().min(3), 2, 'must be at least 3'],
  ['a number at most', z.number().max(3), 4, 'must be at most 3'],
  ['one of some words', z.enum(['a', 'b']), 'c', 'cannot be “c” · one of: a, b'],
  ['one of some words, and finds nothing', z.enum(['a', 'b']), null, 'is empty · one of: a, b'],
  ['one of some words, and no key', z.enum(['a', 'b']), undefined, 'is missing · one of: a, b'],
  ['what zod alone has words for', z.iso.date(), 'x', 'Invalid ISO date'],
])('the problem of a value that must be %s', ([, schema, input, problem]) => {
  expect(told(schema, input)).toBe(problem);
});

test.for<[readonly PropertyKey[], string]>([
  [['policy', 0, 'to'], 'policy[0].to'],
  [['policy', 12], 'policy[12]'],
  [['roles', 'a1'], 'roles.a1'],
  [['roles', '1b'], 'roles.1b'],
  [['roles', 'The Boss'], 'roles["The Boss"]'],
])('the path %j is written as %s', ([path, text]) => {
  const schema = z.unknown().superRefine((_, context) => {
    context.addIssue({ code: 'custom', path: [...path], message: 'is wrong' });
  });
  const reading = parseConfig(schema, {});
  expect(reading.ok || reading.problems.map(({ where }) => where)).toEqual([text]);
});

test('quoted text is cut after 60 characters', () => {
  expect(quoted('x'.repeat(60))).toBe(`“${'x'.repeat(60)}”`);
  expect(quoted('x'.repeat(61))).toBe(`“${'x'.repeat(59)}…”`);
});

test('the hint lists up to 12 known names', () => {
  const dozen = [...'abcdefghijkl'];
  expect(suggestion('elsewhere', dozen)).toBe(`known: ${dozen.join(', ')}`);
  expect(suggestion('elsewhere', [...dozen, 'm'])).toBe(`known: ${dozen.join(', ')} …`);
  expect(suggestion('elsewhere', [])).toBeNull();
});

test.for<[string, string, string | null]>([
  ['one letter of a short word', 'eo', 'eu'],
  ['two letters of a short word', 'xyu', null],
  ['two letters of a longer word', 'prox', 'prod'],
  ['three letters of a word of nine', 'onalitiks', 'analytics'],
  ['four letters of a word of nine', 'onalitikz', null],
])('a typing error in %s leads to the nearest name within a limit', ([, word, near]) => {
  expect(nearest(word, ['eu', 'prod', 'analytics'])).toEqual(near ? [near] : []);
});

test('of several similar names the nearest is suggested', () => {
  expect(nearest('abcdef', ['abcdxy', 'abcdex'], 1)).toEqual(['abcdex']);
});
