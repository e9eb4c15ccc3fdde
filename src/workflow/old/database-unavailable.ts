import { databaseProblem } from '../../storage/errors.ts';

/** Whether an error means that the database is unavailable, so that a retry may succeed. */
export function isDatabaseUnavailable(error: unknown): boolean {
  return databaseProblem(error) !== null;
}
