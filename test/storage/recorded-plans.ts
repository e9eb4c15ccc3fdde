import { CompiledQuery, Kysely } from 'kysely';
import { onTestFinished } from 'vitest';
import type { openPostgres } from '../../src/storage/old/postgres.ts';
import type { Db, Tables, Tx } from '../../src/storage/old/schema.ts';
import type { openSqlite, openSqliteReader } from '../../src/storage/sqlite.ts';

/** A query, or a statement that writes. */
export type Query = (db: Db) => Promise<unknown>;

/** For a statement that needs a transaction: it is recorded outside one. */
export const asTx = (db: Db): Tx => db as unknown as Tx;

interface PlanNode {
  readonly 'Relation Name'?: string;
  readonly 'Actual Rows': number;
  readonly 'Actual Loops': number;
  readonly 'Rows Removed by Filter'?: number;
  readonly Plans?: readonly PlanNode[];
}

/** Runs a statement on PostgreSQL, and returns how. */
export async function readPlan(
  db: Db,
  sql: string,
  parameters: readonly unknown[],
): Promise<readonly PlanNode[]> {
  const explain = CompiledQuery.raw(`explain (analyze, format json) ${sql}`, [...parameters]);
  const { rows } = await db.executeQuery<{ 'QUERY PLAN': [{ Plan: PlanNode }] }>(explain);
  return rows.map((row) => row['QUERY PLAN'][0].Plan);
}

/** The rows of a table that a plan read. */
export function rowsRead(node: PlanNode, table: string): number {
  const own = (node['Actual Rows'] + (node['Rows Removed by Filter'] ?? 0)) * node['Actual Loops'];
  const below = (node.Plans ?? []).reduce((sum, child) => sum + rowsRead(child, table), 0);
  return below + (node['Relation Name'] === table ? own : 0);
}

/** Opens a connection that records the statements of a query. */
export function record(
  dialect: ReturnType<typeof openPostgres | typeof openSqlite | typeof openSqliteReader>,
) {
  const recorded: CompiledQuery[] = [];
  const db = new Kysely<Tables>({ dialect, log: ({ query }) => void recorded.push(query) });
  onTestFinished(() => db.destroy());
  const queriesOf = async (query: Query) => {
    recorded.length = 0;
    await query(db);
    return [...recorded];
  };
  return { db, queriesOf };
}
