import { type Expression, type SqlBool, sql } from 'kysely';
import { onPostgres } from './postgres.ts';
import type { Db } from './schema.ts';

/** A list as one parameter, so that a statement has the same text for each length of it. */
export type ListParameter = readonly (string | number)[] | string;

export function listParameter(db: Db, values: readonly (string | number)[]): ListParameter {
  return onPostgres(db) ? values : JSON.stringify(values);
}

/** Whether a value is in the list of `listParameter`. */
export function isInList(
  db: Db,
  value: Expression<string | number>,
  list: ListParameter,
): Expression<SqlBool> {
  return onPostgres(db)
    ? sql<SqlBool>`${value} = any(${list})`
    : sql<SqlBool>`${value} in (select value from json_each(${list}))`;
}
