import type { z } from 'zod';
import { type FieldProblem, InvalidRequest } from '../../src/base/errors.ts';
import { validRequest } from '../../src/base/http.ts';

/** What a client reports about these values before it sends them. */
export function requestProblems(schema: z.ZodType, value: unknown): readonly FieldProblem[] {
  try {
    validRequest('a request', schema, value);
    return [];
  } catch (error) {
    if (error instanceof InvalidRequest) return error.problems;
    throw error;
  }
}
