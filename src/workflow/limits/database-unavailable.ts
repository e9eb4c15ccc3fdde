import { databaseProblem } from '../../storage/engine/database-errors.ts';

/** What failed is the database and not what was asked: the same may well work in a minute. */
export function isDatabaseAway(error: unknown): boolean {
  return databaseProblem(error) !== null;
}
