import { describe, expect, test } from 'vitest';
import { InvalidRequest } from '../../src/base/errors.ts';
import { apiAddress, pathId } from '../../src/base/http.ts';

describe('an address of the configuration', () => {
  test.each([
    ...['https://api.example.com', 'https://api.example.com/', 'https://api.example.com/v1'],
    ...['https://api.example.com/v1/', 'https://api.example.com//v1//'],
  ])('%s has the same base URL', (written) => {
    expect(apiAddress(written, /\/v1$/).href).toBe('https://api.example.com/');
  });

  test('keeps its own path', () => {
    const { href } = apiAddress('http://127.0.0.1:8080/cloud/v1/', /\/v1$/);
    expect(href).toBe('http://127.0.0.1:8080/cloud');
  });

  test.for<[string, string, string]>([
    ['no address', 'api.example.com', 'must be an http or https address'],
    ['a file', 'file:///etc/passwd', 'must be an http or https address'],
    ['a password', 'https://me:pw@example.com', 'must not contain a user or password'],
    ['a user', 'https://me@example.com', 'must not contain a user or password'],
    ['a query', 'https://example.com/?a=1', 'must not contain a query or a fragment'],
    ['a fragment', 'https://example.com/#a', 'must not contain a query or a fragment'],
  ])('is refused with %s, and the error does not quote it', ([, written, problem]) => {
    expect(() => apiAddress(written, /\/v1$/)).toThrow(
      new InvalidRequest('configuration', [{ field: 'address', problem }]),
    );
  });
});

describe('an id in a path', () => {
  test.each(['a', '2f7c9d34-5f0e-4f0a-8f58-0f6f0b1c2d3e', 'A_b-9', 'x'.repeat(64)])(
    '%s stays as it is',
    (id) => {
      expect(pathId('getThing', 'id', id)).toBe(id);
    },
  );

  test.each([
    ...['', '.', '..', '../x', 'a/b', '%2f', 'a?b', 'a#b', 'a b', 'a\n', 'ä', '\u0000'],
    ...['http://elsewhere', 'x'.repeat(65)],
  ])('%j is refused', (id) => {
    expect(() => pathId('getThing', 'id', id)).toThrow(
      'getThing: id must be 1 to 64 letters, digits, hyphens or underscores',
    );
  });
});
