import type { z } from 'zod';
import { type FieldProblem, InvalidRequest } from '../errors.ts';

/** The parsed value. Throws an InvalidRequest that lists every violated rule once. */
export function validRequest<S extends z.ZodType>(
  operation: string,
  schema: S,
  value: unknown,
): z.output<S> {
  const read = schema.safeParse(value);
  if (!read.success) throw new InvalidRequest(operation, requestProblems(read.error));
  return read.data;
}

export function requestProblems(error: z.ZodError): FieldProblem[] {
  const all = error.issues.flatMap((issue): FieldProblem[] => {
    if (issue.code === 'unrecognized_keys') {
      return issue.keys.map((field) => ({ field, problem: 'is not a field of this request' }));
    }
    return [{ field: issue.path.join('.') || 'request', problem: issue.message }];
  });
  // Two violated rules of a field can share one sentence, for example “a multiple of 4 up to 356”.
  return [...new Map(all.map((each) => [`${each.field} ${each.problem}`, each])).values()];
}

/** An id as a path segment. Other characters could change the path, so they are refused. */
export function pathId(operation: string, field: string, id: string): string {
  if (/^[A-Za-z0-9_-]{1,64}$/.test(id)) return encodeURIComponent(id);
  const problem = 'must be 1 to 64 letters, digits, hyphens or underscores';
  throw new InvalidRequest(operation, [{ field, problem }]);
}

/**
 * The base URL of an API from its configured address, which may end with slashes and may contain
 * the version that every path begins with. Throws InvalidRequest for other additions.
 */
export function apiAddress(text: string, version: RegExp): URL {
  if (!URL.canParse(text)) throw badAddress('must be an http or https address');
  const url = new URL(text);
  if (!/^https?:$/.test(url.protocol)) throw badAddress('must be an http or https address');
  if (url.username + url.password !== '') throw badAddress('must not contain a user or password');
  if (url.search + url.hash !== '') throw badAddress('must not contain a query or a fragment');
  url.pathname = url.pathname.replace(/\/+$/, '').replace(version, '').replace(/\/+$/, '');
  return url;
}

function badAddress(problem: string): InvalidRequest {
  return new InvalidRequest('configuration', [{ field: 'address', problem }]);
}
