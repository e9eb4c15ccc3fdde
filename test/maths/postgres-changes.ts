import pg from 'pg';
import { inject } from 'vitest';
import type { DayPair } from '../../src/maths/compare.ts';
import type { CostRow } from '../../src/maths/rows.ts';

/** A line as PostgreSQL computes it, in millionths of a credit. */
export interface LineOfPostgres {
  readonly service: string;
  readonly metric: string;
  readonly before: number;
  readonly now: number;
}

/**
 * The sums by service and metric on both sides of the pairs. A pipe counts to its service. What the
 * metrics of a row do not explain is `rest`.
 */
const BY_SERVICE_AND_METRIC = `
  WITH row AS (
    SELECT row_number() OVER () AS id, coalesce("serviceId",
             CASE kind WHEN 'service' THEN "entityId" ELSE kind || ' ' || "entityId" END) AS service,
           CASE WHEN day IN (SELECT jsonb_array_elements_text($2::jsonb)) THEN 1 ELSE 0 END AS is_now,
           CASE WHEN day IN (SELECT jsonb_array_elements_text($3::jsonb)) THEN 1 ELSE 0 END AS is_before,
           metrics, total
    FROM jsonb_to_recordset($1::jsonb) AS one("serviceId" text, "entityId" text, kind text,
                                              day text, metrics jsonb, total numeric)
  ), named AS (
    SELECT id, key AS metric, value::text::numeric AS amount FROM row, jsonb_each(metrics)
  ), unexplained AS (
    SELECT row.id, total - coalesce(sum(amount), 0) AS amount
    FROM row LEFT JOIN named USING (id) GROUP BY row.id, total
  ), part AS (
    SELECT * FROM named
    UNION ALL
    SELECT id, 'rest', amount FROM unexplained WHERE amount <> 0
  )
  SELECT service, metric, sum(amount * is_before)::float8 AS before, sum(amount * is_now)::float8 AS now
  FROM part JOIN row USING (id) GROUP BY service, metric ORDER BY service, metric`;

export async function linesByPostgres(
  rows: readonly CostRow[],
  pairs: readonly DayPair[],
): Promise<readonly LineOfPostgres[]> {
  const days = [pairs.map(({ now }) => now), pairs.map(({ before }) => before)];
  return askPostgres<LineOfPostgres>(BY_SERVICE_AND_METRIC, [rows, ...days]);
}

/** The rows that PostgreSQL answers to a query, whose values are handed over as JSON. */
export async function askPostgres<Row extends object>(
  query: string,
  values: readonly unknown[],
): Promise<readonly Row[]> {
  const client = new pg.Client({ connectionString: inject('postgresUrl') });
  await client.connect();
  try {
    return (
      await client.query<Row>(
        query,
        values.map((each) => JSON.stringify(each)),
      )
    ).rows;
  } finally {
    await client.end();
  }
}
