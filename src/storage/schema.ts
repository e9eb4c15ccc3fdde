import { type Kysely, sql } from 'kysely';
import { UnusableDatabase } from './errors.ts';
import { cacheTables, type Tables } from './tables.ts';

export type Engine = 'sqlite' | 'postgres';

/**
 * The whole schema. `event` decides; `job` says that something is due; `change_view` is a view that
 * `signalbox rebuild` makes again; the other tables are caches. Times are milliseconds since 1970 in UTC. Texts are compared byte by byte.
 */
function initialSchema(engine: Engine): readonly string[] {
  const [integer, text, strict] =
    engine === 'sqlite' ? ['integer', 'text', ' strict'] : ['bigint', 'text collate "C"', ''];
  return [
    `create table job (
      kind ${text} not null,
      key ${text} not null,
      due_at ${integer} not null,
      since ${integer} not null,
      attempts ${integer} not null default 0,
      asked ${integer} not null default 1,
      lease_owner ${text},
      lease_until ${integer} not null default 0,
      primary key (kind, key)
    )${strict}`,
    'create index job_due on job (due_at)',
    `create table change_view (
      id ${text} primary key,
      state ${text} not null,
      command ${text} not null,
      target ${text} not null,
      requester ${text} not null,
      agent ${text},
      parent ${text},
      created_at ${integer} not null,
      updated_at ${integer} not null,
      ended_at ${integer},
      sent_at ${integer},
      is_private ${integer} not null,
      is_open ${integer} not null,
      needs_review ${integer} not null
    )${strict}`,
    'create index change_view_open on change_view (is_open, created_at)',
    'create index change_view_target on change_view (target, created_at)',
    'create index change_view_requester on change_view (requester, created_at)',
    'create index change_view_ended on change_view (ended_at)',
    ...eventTable(engine),
    ...cacheTables(engine),
  ];
}

/**
 * The table of the log. Its rules against deletion and modification are no defence against the owner of the
 * database: they stop a statement that was typed in the wrong window. Only a body may become null, for retention.
 */
function eventTable(engine: Engine): readonly string[] {
  const [integer, text, strict] =
    engine === 'sqlite' ? ['integer', 'text', ' strict'] : ['bigint', 'text collate "C"', ''];
  const table = `create table event (
      seq ${integer} primary key check (seq > 0),
      stream ${text} not null,
      version ${integer} not null check (version > 0),
      type ${text} not null,
      at ${integer} not null,
      body ${text},
      body_hash ${text} not null,
      prev ${text} not null,
      hash ${text} not null unique,
      key ${text} not null,
      signature ${text} not null,
      unique (stream, version)
    )${strict}`;
  return [table, ...(engine === 'sqlite' ? SQLITE_GUARDS : POSTGRES_GUARDS)];
}

const SQLITE_GUARDS = [
  `create trigger event_no_delete before delete on event
    begin select raise(abort, 'an event is never deleted'); end`,
  `create trigger event_no_update before update of
      seq, stream, version, type, at, body_hash, prev, hash, key, signature on event
    begin select raise(abort, 'an event is never modified'); end`,
  `create trigger event_no_body before update of body on event when new.body is not null
    begin select raise(abort, 'an event is never modified'); end`,
];

const POSTGRES_GUARDS = [
  `create or replace function keep_event() returns trigger language plpgsql as $$
    begin
      if tg_op = 'UPDATE' and new.body is null
        and (to_jsonb(new) - 'body') = (to_jsonb(old) - 'body') then return new;
      end if;
      raise exception 'an event is never modified or deleted';
    end $$`,
  `create trigger event_no_change before update or delete on event
    for each row execute function keep_event()`,
  `create trigger event_no_truncate before truncate on event execute function keep_event()`,
];

/** Removes the rules of `eventTable` from a table that is about to be renamed. */
export function dropEventGuards(engine: Engine): readonly string[] {
  return engine === 'sqlite'
    ? ['event_no_delete', 'event_no_update', 'event_no_body'].map((each) => `drop trigger ${each}`)
    : ['event_no_change', 'event_no_truncate'].map((each) => `drop trigger ${each} on event`);
}

const MIGRATIONS: readonly (readonly [string, (engine: Engine) => readonly string[]])[] = [
  ['001-initial', initialSchema],
];

/** `empty`: Signalbox has not used the database. `behind`: the next start applies migrations. */
export type SchemaState = 'empty' | 'behind' | 'current';

/** Throws `UnusableDatabase` for a database of release 1.x, and for one that a newer release changed. */
export async function readSchema(reader: Kysely<Tables>, engine: Engine): Promise<SchemaState> {
  if (await hasTable(reader, engine, 'audit_event')) {
    throw new UnusableDatabase(
      'This database was made by Signalbox 1.x, which this release does not open',
      'export its audit trail with release 1.1, then name a new database in DATABASE_URL',
    );
  }
  const applied = await appliedMigrations(reader, engine);
  const foreign = applied.find((name) => !MIGRATIONS.some(([known]) => known === name));
  if (foreign !== undefined) {
    throw new UnusableDatabase(
      `A newer release of Signalbox changed this database (${foreign})`,
      'run that release or a newer one',
    );
  }
  if (applied.length === 0) return 'empty';
  return applied.length < MIGRATIONS.length ? 'behind' : 'current';
}

/**
 * Applies the migrations that the database lacks. Throws like `readSchema`. To be called in a transaction that excludes
 * other processes.
 */
export async function migrateStore(tx: Kysely<Tables>, engine: Engine): Promise<void> {
  if ((await readSchema(tx, engine)) === 'current') return;
  await sql`create table if not exists migration (name text primary key)`.execute(tx);
  const applied = await appliedMigrations(tx, engine);
  for (const [name, statementsFor] of MIGRATIONS) {
    if (applied.includes(name)) continue;
    for (const statement of statementsFor(engine)) await sql.raw(statement).execute(tx);
    await sql`insert into migration (name) values (${name})`.execute(tx);
  }
}

/**
 * Lets another role of PostgreSQL run Signalbox: it appends events and empties their texts, and as it owns no table, it
 * can neither change one nor switch off its triggers. Source: docs/database.md#a-role-that-owns-nothing.
 */
export async function grantUse(tx: Kysely<Tables>, role: string): Promise<void> {
  const to = sql.id(role);
  const { rows } = await sql<{ name: string }>`select current_schema() as name`.execute(tx);
  const schema = sql.id(rows[0]?.name ?? 'public');
  for (const grant of [
    sql`grant usage on schema ${schema} to ${to}`,
    sql`grant select, insert, update, delete on all tables in schema ${schema} to ${to}`,
    sql`revoke insert, update, delete on migration from ${to}`,
    sql`revoke update, delete on event from ${to}`,
  ]) {
    await grant.execute(tx);
  }
  await grantEvents(tx, role);
}

async function grantEvents(tx: Kysely<Tables>, role: string): Promise<void> {
  await sql`grant select, insert, update (body) on event to ${sql.id(role)}`.execute(tx);
}

/** Keeps the rows of `event` as another table, and begins an empty one that the same roles may use. */
export async function renewEventTable(
  tx: Kysely<Tables>,
  engine: Engine,
  closed: number,
): Promise<void> {
  const roles = engine === 'postgres' ? await rolesThatAppend(tx) : [];
  const statements = [
    // An attacker may have dropped them.
    ...dropEventGuards(engine).map((each) => each.replace('trigger', 'trigger if exists')),
    `alter table event rename to event_until_${closed}`,
    ...eventTable(engine),
  ];
  for (const statement of statements) await sql.raw(statement).execute(tx);
  for (const role of roles) await grantEvents(tx, role);
}

/** The owner of the table, and those with its right. */
async function rolesThatAppend(tx: Kysely<Tables>): Promise<readonly string[]> {
  const { rows } = await sql<{ name: string }>`select rolname as name
    from pg_class, aclexplode(coalesce(relacl, acldefault('r', relowner)))
      join pg_roles on pg_roles.oid = grantee
    where pg_class.oid = 'event'::regclass and privilege_type = 'INSERT'`.execute(tx);
  return rows.map(({ name }) => name);
}

async function appliedMigrations(
  reader: Kysely<Tables>,
  engine: Engine,
): Promise<readonly string[]> {
  if (!(await hasTable(reader, engine, 'migration'))) return [];
  const { rows } = await sql<{ name: string }>`select name from migration`.execute(reader);
  return rows.map(({ name }) => name);
}

async function hasTable(tx: Kysely<Tables>, engine: Engine, name: string): Promise<boolean> {
  const found =
    engine === 'sqlite'
      ? sql`select 1 from sqlite_schema where type = 'table' and name = ${name}`
      : sql`select 1 where to_regclass(${name}) is not null`;
  return (await found.execute(tx)).rows.length > 0;
}
