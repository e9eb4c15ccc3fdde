import { inspect } from 'node:util';
import { describe, expect, test } from 'vitest';
import { ApiError, InvalidRequest, Secret } from '../../src/base/errors.ts';

describe('a secret', () => {
  const secret = new Secret('canary');

  test('is returned by reveal()', () => {
    expect(secret.reveal()).toBe('canary');
  });

  test.for<[string, () => unknown]>([
    ['put into a sentence', () => `${secret}`],
    ['turned into a string', () => String(secret)],
    ['turned into JSON', () => JSON.stringify({ secret, list: [secret] })],
    ['inspected', () => inspect({ secret }, { depth: 9, showHidden: true })],
    ['spread', () => inspect({ ...secret })],
    ['cloned', () => inspect(structuredClone(secret), { showHidden: true })],
    ['listed', () => inspect(Object.entries(secret))],
  ])('is not shown when it is %s', ([, show]) => {
    expect(show()).not.toContain('canary');
  });
});

test('an API error has a sentence and all facts', () => {
  const serverText = 'NOT_FOUND: 2f7c9d34';
  const answer = { effect: 'refused', kind: 'answer', status: 404, serverText } as const;
  const error = new ApiError({ operation: 'updateServiceState', ...answer });
  const sentence = 'updateServiceState: the server returned an error (404 NOT_FOUND: 2f7c9d34)';
  expect(error.message).toBe(sentence);
  expect(error).toMatchObject({ requestId: null, retryAfterMs: null });
});

test('an API error without an answer has no parentheses', () => {
  const error = new ApiError({ operation: 'x', effect: 'unknown', kind: 'deadline' });
  expect(error.message).toBe('x: the server did not answer in time');
});

test('an invalid request lists every problem', () => {
  const problems = [
    { field: 'min', problem: 'must be a number' },
    { field: 'max', problem: 'must be a number' },
  ];
  expect(new InvalidRequest('scale', problems)).toMatchObject({
    problems,
    message: 'scale: min must be a number; max must be a number',
  });
});
