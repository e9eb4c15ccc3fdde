import { loadavg } from 'node:os';
import pg from 'pg';

/** The size of each table of more than 1 MB and of its indexes, in MB, the largest first. */
export async function sizes(url: string): Promise<readonly string[][]> {
  const client = new pg.Client(url);
  await client.connect();
  try {
    const { rows } = await client.query<Record<string, string>>(
      `select c.relname as name, c.reltuples::bigint::text as rows,
        round(pg_table_size(c.oid) / 1e6)::text as table,
        round(pg_indexes_size(c.oid) / 1e6)::text as indexes
      from pg_class c where c.relkind = 'r' and c.relnamespace = 'public'::regnamespace
        and pg_total_relation_size(c.oid) > 1e6 order by pg_total_relation_size(c.oid) desc`,
    );
    return [
      ['table', 'rows', 'MB', 'indexes, MB'],
      ...rows.map((row) => [row.name, row.rows, row.table, row.indexes].map((cell) => cell ?? '')),
    ];
  } finally {
    await client.end();
  }
}

/** The load average of the last minute. */
export function load(): string {
  return (loadavg()[0] ?? 0).toFixed(1);
}

/** A table for a page: the first row is its head. */
export function markdown(rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]) => `| ${cells.join(' | ')} |`;
  const [head = [], ...body] = rows;
  return [line(head), line(head.map(() => '---')), ...body.map(line)].join('\n');
}
