import pg from 'pg';

export interface Statement {
  readonly sql: string;
  readonly values: readonly unknown[];
  readonly ms: number;
}

const recorded: Statement[] = [];
const send = pg.Client.prototype.query;

/** Records every statement of this process from now on, with the time until its result. */
export function recordStatements(): void {
  function query(this: pg.Client, ...given: unknown[]): unknown {
    const { sql, values } = textOf(given);
    const began = performance.now();
    const result: unknown = Reflect.apply(send, this, given);
    if (sql !== null && result instanceof Promise) {
      const note = () => void recorded.push({ sql, values, ms: performance.now() - began });
      void result.then(note, () => undefined);
    }
    return result;
  }
  Object.assign(pg.Client.prototype, { query });
}

/** The driver gets a text and its values, or one object for a statement with a name. */
function textOf([first, second]: readonly unknown[]): { sql: string | null; values: unknown[] } {
  const isNamed = typeof first === 'object' && first !== null && 'text' in first;
  const sql = isNamed ? first.text : first;
  const values = isNamed && 'values' in first ? first.values : second;
  return {
    sql: typeof sql === 'string' ? sql : null,
    values: Array.isArray(values) ? values : [],
  };
}

/** Returns the statements since the last call. */
export function takeStatements(): readonly Statement[] {
  return recorded.splice(0);
}

export interface Plan {
  readonly indexes: readonly string[];
  /** Sequential scans, with the rows that they read. */
  readonly scans: ReadonlyMap<string, number>;
  /** Pages of 8 kB that all statements read. */
  readonly pages: number;
}

interface PlanNode {
  readonly 'Node Type': string;
  readonly 'Relation Name'?: string;
  readonly 'Index Name'?: string;
  readonly 'Actual Rows'?: number;
  readonly 'Actual Loops'?: number;
  readonly 'Rows Removed by Filter'?: number;
  readonly 'Shared Hit Blocks'?: number;
  readonly 'Shared Read Blocks'?: number;
  readonly Plans?: readonly PlanNode[];
}

/** Explains statements in a transaction that is rolled back. */
export async function explain(url: string, statements: readonly Statement[]): Promise<Plan> {
  const client = new pg.Client(url);
  await client.connect();
  const nodes: PlanNode[] = [];
  let pages = 0;
  try {
    for (const { sql, values } of statements.filter(({ sql }) =>
      /^(select|update|delete)/.test(sql),
    )) {
      await client.query('begin');
      const { rows } = await client.query<{ 'QUERY PLAN': [{ Plan: PlanNode }] }>(
        `explain (analyze, buffers, format json) ${sql}`,
        [...values],
      );
      await client.query('rollback');
      for (const row of rows) pages += pagesOf(row['QUERY PLAN'][0].Plan);
      nodes.push(...rows.flatMap((row) => nodesOf(row['QUERY PLAN'][0].Plan)));
    }
  } finally {
    await client.end();
  }
  const scans = new Map<string, number>();
  for (const node of nodes.filter((each) => each['Node Type'] === 'Seq Scan')) {
    const rows = (node['Actual Rows'] ?? 0) + (node['Rows Removed by Filter'] ?? 0);
    const read = rows * (node['Actual Loops'] ?? 1);
    const name = node['Relation Name'] ?? '';
    scans.set(name, Math.max(read, scans.get(name) ?? 0));
  }
  return { indexes: [...new Set(nodes.flatMap((node) => node['Index Name'] ?? []))], scans, pages };
}

/** The pages of a node include those of the nodes under it. */
function pagesOf(node: PlanNode): number {
  return (node['Shared Hit Blocks'] ?? 0) + (node['Shared Read Blocks'] ?? 0);
}

function nodesOf(node: PlanNode): readonly PlanNode[] {
  return [node, ...(node.Plans ?? []).flatMap(nodesOf)];
}
