// What operators measure in the database: every figure is only shown, and nothing is decided from it.
import type { State } from '../domain/change.ts';
import { lockedTransaction, type Store, type StoreReader, sql } from '../storage/index.ts';

/** `since` is the time of the oldest entry; null if there is none. */
export interface Backlog {
  readonly count: number;
  readonly since: Date | null;
}

const NOTHING: Backlog = { count: 0, since: null };

interface Counted {
  readonly name: string;
  readonly count: number;
  readonly since: number | null;
}

function backlogOf({ count, since }: Counted): Backlog {
  return { count: Number(count), since: since === null ? null : new Date(since) };
}

// Ended changes are counted when they end, by metrics.
const OPEN: readonly State[] = ['pending', 'approved', 'executing', 'unknown'];

/** The open changes of each state, by the time of their request. */
export async function openChanges(reader: StoreReader): Promise<ReadonlyMap<State, Backlog>> {
  const { rows } = await sql<Counted>`select state as name, count(*) as count,
    min(created_at) as since from change_view where state in (${sql.join(OPEN)})
    group by state`.execute(reader);
  const found = new Map(rows.map((row) => [row.name, backlogOf(row)]));
  return new Map(OPEN.map((state) => [state, found.get(state) ?? NOTHING]));
}

/** Changes whose card could not be drawn, by the time of their last event. */
export async function undeliveredCards(reader: StoreReader): Promise<Backlog> {
  const { rows } = await sql<Counted>`select 'card' as name, count(*) as count,
    min(updated_at) as since from change_view join job on job.key = change_view.id
    where job.kind = 'card' and job.attempts > 1`.execute(reader);
  return rows[0] ? backlogOf(rows[0]) : NOTHING;
}

/** Due jobs: presses to decide, and everything else. A job that fails again and again is due since its first try. */
export async function dueJobs(reader: StoreReader, now: Date) {
  const { rows } = await sql<Counted>`select
      case when kind = 'press' then 'presses' else 'others' end as name,
      count(*) as count, min(since) as since
    from job where due_at <= ${now.getTime()} or attempts > 0 group by 1`.execute(reader);
  const of = (name: string) => {
    const row = rows.find((each) => each.name === name);
    return row ? backlogOf(row) : NOTHING;
  };
  return { presses: of('presses'), others: of('others') };
}

const ENDS = ['posted', 'missed', 'left-out'] as const;

/** How many digests ended so. */
export async function digestEnds(reader: StoreReader): Promise<ReadonlyMap<string, number>> {
  const { rows } = await sql<Counted>`select type as name, count(*) as count, null as since
    from event where stream > 'digest/' and stream < 'digest0'
      and type in (${sql.join([...ENDS])}) group by type`.execute(reader);
  const found = new Map(rows.map(({ name, count }) => [name, Number(count)]));
  return new Map(ENDS.map((end) => [end, found.get(end) ?? 0]));
}

/** When the last backup was made; null if none is recorded. */
export async function lastBackup(reader: StoreReader): Promise<Date | null> {
  const { rows } = await sql<{ value: string }>`
    select value from cost_state where key = 'backup'`.execute(reader);
  return rows[0] ? new Date(Number(rows[0].value)) : null;
}

/** Since when there was no backup: the last one, or where none is recorded the first event; null for an empty log. */
export async function noBackupSince(reader: StoreReader): Promise<Date | null> {
  const { rows } = await sql<{ at: number }>`
    select at from event order by seq limit 1`.execute(reader);
  return (await lastBackup(reader)) ?? (rows[0] ? new Date(Number(rows[0].at)) : null);
}

/** Records that a backup was made now, for the doctor and the alert. */
export async function recordBackup(store: Store): Promise<void> {
  await lockedTransaction(store, async (tx) => {
    const now = String(await store.clock(tx));
    await sql`insert into cost_state (key, value) values ('backup', ${now})
      on conflict (key) do update set value = excluded.value`.execute(tx);
  });
}

interface DatabaseFacts {
  /** The limit of a statement, as the server applies it, for example `10s`; null for SQLite. */
  readonly statementTimeout: string | null;
  /** The clock of the server, and of this machine halfway through the query, in milliseconds. */
  readonly clock: { readonly server: Date; readonly here: number } | null;
  readonly mayCreateTables: boolean;
}

const FILE_HAS: DatabaseFacts = { statementTimeout: null, clock: null, mayCreateTables: true };

export async function databaseFacts(
  { engine, clock }: Pick<Store, 'engine' | 'clock'>,
  reader: StoreReader,
): Promise<DatabaseFacts> {
  if (engine === 'sqlite') return FILE_HAS;
  const started = Date.now();
  const server = new Date(await clock(reader));
  const here = (started + Date.now()) / 2;
  const { rows } = await sql<{ limit: string; may: boolean | null }>`
    select current_setting('statement_timeout') as limit,
      has_schema_privilege(current_schema(), 'create') as may`.execute(reader);
  const { limit = null, may = false } = rows[0] ?? {};
  return { statementTimeout: limit, clock: { server, here }, mayCreateTables: may === true };
}

/** Stores something and deletes it: a full disk and a locked file can be read, and nothing can be stored there. */
export function proveWritable(store: Store): Promise<void> {
  return lockedTransaction(store, async (tx) => {
    await sql`insert into job (kind, key, due_at, since) values ('probe', '', 0, 0)`.execute(tx);
    await sql`delete from job where kind = 'probe'`.execute(tx);
  });
}
