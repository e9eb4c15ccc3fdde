import type { PriceList } from '../../src/maths/money.ts';
import type { CostRow } from '../../src/maths/rows.ts';
import { askPostgres } from './postgres-changes.ts';

/** A line as PostgreSQL computes it: exact, and rounded to cents. */
interface PricedLine {
  readonly key: string;
  /** Null if a day with costs has no price. */
  readonly exact: string | null;
  readonly cents: string | null;
}

/** The money of rows by service, with the `numeric` of PostgreSQL and prices joined by day. */
const BY_SERVICE = `
  WITH row AS (
    SELECT key, day::date, micro::numeric / 1000000 AS credits
    FROM jsonb_to_recordset($1::jsonb) AS one(key text, day text, micro text)
  ), price AS (
    SELECT "from"::date AS first, millionths::numeric / 1000000 AS each,
           lead("from"::date) OVER (ORDER BY "from"::date) AS next
    FROM jsonb_to_recordset($2::jsonb) AS one("from" text, millionths text)
  ), priced AS (
    SELECT key, credits, credits * each AS money
    FROM row LEFT JOIN price ON day >= first AND (next IS NULL OR day < next)
  ), line AS (
    SELECT key, CASE WHEN bool_and(money IS NOT NULL OR credits = 0) THEN sum(money) END AS money
    FROM priced GROUP BY key
  )
  SELECT key, trim_scale(money)::text AS exact, round(money, 2)::text AS cents FROM line ORDER BY key`;

export async function moneyByPostgres(
  rows: readonly CostRow[],
  prices: PriceList,
): Promise<readonly PricedLine[]> {
  const all = rows.map(({ serviceId: key, day, total }) => ({ key, day, micro: String(total) }));
  const steps = prices.map(({ from, perCredit }) => ({ from, millionths: String(perCredit) }));
  return askPostgres<PricedLine>(BY_SERVICE, [all, steps]);
}
