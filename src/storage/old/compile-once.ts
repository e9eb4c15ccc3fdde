import type { Compilable, CompiledQuery } from 'kysely';
import type { Db, Tx } from './schema.ts';
import type { Statement } from './together.ts';

/** Stands for a value while its statement is built. */
class Placeholder {
  readonly index: number;

  constructor(index: number) {
    this.index = index;
  }
}

interface CompiledOnce<Own extends Db, Values extends readonly unknown[], Row> {
  /** Runs the statement and returns its rows. */
  (db: Own, ...values: Values): Promise<Row[]>;
  /** The statement with these values, to be sent together with others. */
  readonly with: (db: Own, ...values: Values) => Statement<Row>;
}

/**
 * Returns a function that runs a statement with other values each time. The statement is built and compiled
 * once per database, which takes longer than SQLite needs to run it. `build` must bind its parameters
 * unchanged, and must not depend on them otherwise.
 */
export function compileOnce<Own extends Db, Values extends readonly unknown[], Row>(
  build: (db: Own, ...values: Values) => Compilable<Row>,
): CompiledOnce<Own, Values, Row> {
  const known = new WeakMap<object, CompiledQuery<Row>>();
  const statement = (db: Own, ...values: Values) => {
    const executor = db.getExecutor();
    const before = known.get(executor.adapter);
    // Compiling calls the plugins, which count the statements of a transaction.
    if (before) executor.transformQuery(before.query, before.queryId);
    const compiled = before ?? build(db, ...placeholders(values)).compile();
    known.set(executor.adapter, compiled);
    const parameters = compiled.parameters.map((each) =>
      each instanceof Placeholder ? values[each.index] : each,
    );
    return { query: { ...compiled, parameters } };
  };
  const run = async (db: Own, ...values: Values) => {
    const { rows } = await db.executeQuery<Row>(statement(db, ...values).query);
    return rows;
  };
  return Object.assign(run, { with: statement });
}

/** Like `compileOnce`, for a statement that also depends on a shape: it is built once per shape. */
export function compileEach<Values extends readonly unknown[], Row>(
  build: (tx: Tx, shape: string, values: Values) => Compilable<Row>,
): (tx: Tx, shape: string, values: Values) => Statement<Row> {
  const known = new Map<string, CompiledOnce<Tx, Values, Row>>();
  return (tx, shape, values) => {
    const once =
      known.get(shape) ?? compileOnce((own: Tx, ...all: Values) => build(own, shape, all));
    known.set(shape, once);
    return once.with(tx, ...values);
  };
}

function placeholders<Values extends readonly unknown[]>(values: Values): Values {
  // A statement treats a value as a parameter, whatever its type.
  return values.map((_, index) => new Placeholder(index)) as unknown as Values;
}
