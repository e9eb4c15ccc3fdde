import { Socket } from 'node:net';
import { type Kysely, PostgresAdapter, PostgresDialect, sql } from 'kysely';
import pg from 'pg';
import type { Db, Tables } from '../tables/schema.ts';
import { databaseTimeout } from './database-errors.ts';

const CONNECTIONS = 10;
const STATEMENT_LIMIT_MS = 10_000;
// The server answers within its limit, and the pool ends what rests for as long: whoever is silent
// for longer is not there, whatever the network says.
const SILENCE_MS = STATEMENT_LIMIT_MS + 2_000;

export interface Connecting {
  readonly onError: (error: Error) => void;
  /** Null: for statements without a limit. */
  readonly silenceMs?: number | null;
}

export function openPostgres(url: string, connecting: Connecting): PostgresDialect {
  const { onError, silenceMs = SILENCE_MS } = connecting;
  const pool = new pg.Pool({
    connectionString: url,
    max: CONNECTIONS,
    application_name: 'signalbox',
    connectionTimeoutMillis: 5_000,
    statement_timeout: STATEMENT_LIMIT_MS,
    lock_timeout: 3_000,
    idle_in_transaction_session_timeout: 10_000,
    stream: () => impatient(new Socket(), silenceMs),
  });
  // A server that restarts ends idle connections with an error event, and one without a listener
  // ends the process. The pool listens to idle clients only, so those at work need their own.
  pool.on('error', onError);
  pool.on('connect', (client) => client.on('error', onError));
  return new PostgresDialect({ pool });
}

/**
 * A network that drops packets tells nobody, and the limits of the server are kept by the server:
 * without one of ours, all connections would hang for as long as the system tries, a quarter of an
 * hour.
 */
function impatient(socket: Socket, silenceMs: number | null): Socket {
  if (silenceMs === null) return socket;
  return socket.setTimeout(silenceMs, () => {
    socket.destroy(databaseTimeout('The connection to the database fell silent and was given up'));
  });
}

/** What makes a committed row survive the loss of power. */
export interface Durability {
  readonly fsync: string;
  readonly synchronousCommit: string;
}

export async function readDurability(db: Kysely<Tables>): Promise<Durability> {
  const { rows } = await sql<Durability>`
    select current_setting('fsync') as "fsync",
      current_setting('synchronous_commit') as "synchronousCommit"`.execute(db);
  const [row] = rows;
  if (!row) throw new Error('PostgreSQL did not tell its settings');
  return row;
}

export function refuseLossy({ fsync, synchronousCommit }: Durability): void {
  const off = [
    ...(fsync === 'off' ? ['fsync'] : []),
    ...(synchronousCommit === 'off' ? ['synchronous_commit'] : []),
  ];
  if (off.length === 0) return;
  throw new Error(
    `PostgreSQL has ${off.join(' and ')} off: an approval could be lost after it was confirmed. ` +
      'Switch it on for this database.',
  );
}

export function onPostgres(db: Db): boolean {
  return db.getExecutor().adapter instanceof PostgresAdapter;
}
