import type { CompiledQuery, QueryResult, UnknownRow } from 'kysely';
import { onPostgres } from './postgres.ts';
import type { Db, Tx } from './schema.ts';
import { commitAfter } from './transaction.ts';

/** A statement that can be sent together with others. */
export interface Statement<Row = unknown> {
  readonly query: CompiledQuery<Row>;
  /** Throws if the rows show that the statement did not have its effect. */
  check?(rows: readonly Row[]): void;
}

/** A statement whose rows can be read once it has run. */
export interface Read<Row> extends Statement<Row> {
  readonly check: (rows: readonly Row[]) => void;
  readonly rows: () => readonly Row[];
}

/** The statement of a read, to be sent together with others. */
export function keepRows<Row>({ query }: Statement<Row>): Read<Row> {
  let kept: readonly Row[] | undefined;
  const rows = () => {
    if (!kept) throw new Error('A statement was not run whose rows are needed');
    return kept;
  };
  const check = (found: readonly Row[]) => {
    kept = found;
  };
  return { query, check, rows };
}

type RowsOf<Each> = Each extends Statement<infer Row> ? Row[] : never;
type AllRows<Statements> = { -readonly [Place in keyof Statements]: RowsOf<Statements[Place]> };

/**
 * Runs statements in their order on one connection, and returns the rows of each. PostgreSQL gets all of them
 * at once, which takes half of the processor time of statements that wait for each other. Each one still reads
 * what was committed before it began. The first error rejects. To be used in a transaction if one of them writes.
 */
export async function runTogether<const Statements extends readonly Statement[]>(
  db: Db,
  statements: Statements,
): Promise<AllRows<Statements>> {
  const executor = db.getExecutor();
  const results = await executor.provideConnection(async (connection) => {
    const run = ({ query }: Statement) => connection.executeQuery<UnknownRow>(query);
    if (onPostgres(db)) return Promise.all(statements.map(run));
    const inTurn: QueryResult<UnknownRow>[] = [];
    // Some errors of SQLite end the transaction, for example a full disk. The next statement would be committed.
    for (const statement of statements) inTurn.push(await run(statement));
    return inTurn;
  });
  const all: unknown[][] = [];
  for (const [index, statement] of statements.entries()) {
    const { query } = statement;
    let result = results[index] ?? { rows: [] };
    for (const plugin of executor.plugins) {
      result = await plugin.transformResult({ queryId: query.queryId, result });
    }
    statement.check?.(result.rows);
    all.push(result.rows);
  }
  // In the order of the statements, whose types say which rows they return.
  return all as AllRows<Statements>;
}

/**
 * Runs the last statements of a transaction. PostgreSQL gets the commit together with them, so that nothing
 * could be rolled back after a check: throws if a statement has one.
 */
export async function runLast(tx: Tx, statements: readonly Statement[]): Promise<void> {
  refuseChecks(statements);
  const run = runTogether(tx, statements);
  await (onPostgres(tx) ? commitAfter(run, statements.length) : run);
}

/** Runs a statement that PostgreSQL commits by itself. Throws if it has a check. */
export async function runAlone(tx: Tx, statement: Statement): Promise<void> {
  refuseChecks([statement]);
  await runTogether(tx, [statement]);
}

function refuseChecks(statements: readonly Statement[]): void {
  if (statements.some(({ check }) => check))
    throw new Error('A statement that is committed at once cannot have a check');
}
