import {
  dropEventGuards,
  lockedTransaction,
  type Store,
  type StoreReader,
  type StoreTx,
  sql,
} from '../../../src/storage/index.ts';

type Row = Readonly<Record<string, unknown>>;

/** All rows of all tables after one commit. */
interface Copy {
  readonly events: readonly Row[];
  readonly others: ReadonlyMap<string, readonly Row[]>;
}

export type Copies = Awaited<ReturnType<typeof keepCopies>>;

/** A store that keeps a copy of its rows after each commit, and can be put back to any of them. */
export async function keepCopies(store: Store) {
  const tables = (await tablesOf(store)).filter((name) => name !== 'event');
  for (const guard of dropEventGuards(store.engine)) await sql.raw(guard).execute(store.root);
  const copies: Copy[] = [];
  /** The changes of which some state of the log has lost an event. */
  const lost = new Set<string>();
  let last: Promise<unknown> = Promise.resolve();
  const inTurn = (work: () => Promise<unknown>) => {
    last = last.then(work);
    return last;
  };
  const copy = async () => {
    const { events = [] } = copies.at(-1) ?? {};
    const all = store.root.transaction();
    const whole = store.engine === 'postgres' ? all.setIsolationLevel('repeatable read') : all;
    copies.push(await whole.execute((tx) => readAll(tx, tables, events)));
  };
  /** Puts the database back to what it was some commits ago, with what may have been lost since. */
  const putBack = async (commits: number) => {
    const to = copies.at(Math.max(-copies.length, -1 - commits));
    if (!to) return;
    // Not in the turn of the store: the writer that has it may wait for this rollback.
    await lockedTransaction({ ...store, inTurn: (work) => work() }, async (tx) => {
      const { events } = await readAll(tx, [], copies.at(-1)?.events ?? []);
      const kept = events.findIndex(({ hash }, index) => hash !== to.events[index]?.hash);
      const since = kept < 0 ? events.length : kept;
      for (const { stream } of events.slice(since)) {
        const change = /^change\/(.+)$/.exec(String(stream))?.[1];
        if (change) lost.add(change);
      }
      await sql`delete from event where seq > ${since}`.execute(tx);
      await insert(tx, 'event', to.events.slice(since));
      for (const table of tables) {
        await sql`delete from ${sql.table(table)}`.execute(tx);
        await insert(tx, table, to.others.get(table) ?? []);
      }
    });
    copies.push(to);
  };
  await copy();
  return {
    lost,
    store: {
      ...store,
      commit: async <T>(body: (tx: StoreTx) => Promise<T>) => {
        const result = await store.commit(body);
        await inTurn(copy);
        return result;
      },
    },
    rollBack: async (commits: number) => void (await inTurn(() => putBack(commits))),
  };
}

async function tablesOf({ engine, root }: Store): Promise<readonly string[]> {
  const { rows } = await (engine === 'sqlite'
    ? sql<{ name: string }>`select name from sqlite_schema where type = 'table'`
    : sql<{
        name: string;
      }>`select tablename as name from pg_tables where schemaname = current_schema()`
  ).execute(root);
  return rows.map(({ name }) => name);
}

/** Events are only added, so that those of the copy before are not read again. */
async function readAll(
  reader: StoreReader,
  tables: readonly string[],
  before: readonly Row[],
): Promise<Copy> {
  const counts = ['migration', ...tables].map(
    (name) => sql`(select count(*) from ${sql.table(name)}) as ${sql.ref(name)}`,
  );
  const { rows: sizes } = await sql<Record<string, number>>`select ${sql.join(counts)}`.execute(
    reader,
  );
  const others = new Map<string, readonly Row[]>();
  for (const name of tables) {
    if (Number(sizes[0]?.[name]) === 0) continue;
    others.set(name, (await sql<Row>`select * from ${sql.table(name)}`.execute(reader)).rows);
  }
  const { rows } = await sql<Row>`select * from event
    where seq > ${before.length} order by seq`.execute(reader);
  return { events: rows.length === 0 ? before : [...before, ...rows], others };
}

/** Fewer than the parameters of a statement. */
const ROWS = 200;

async function insert(tx: StoreTx, table: string, rows: readonly Row[]): Promise<void> {
  for (let from = 0; from < rows.length; from += ROWS) {
    const some = rows.slice(from, from + ROWS);
    const names = Object.keys(some[0] ?? {}).map((name) => sql.ref(name));
    const values = some.map((row) => sql`(${sql.join(Object.values(row))})`);
    await sql`insert into ${sql.table(table)} (${sql.join(names)})
      values ${sql.join(values)}`.execute(tx);
  }
}
