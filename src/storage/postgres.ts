import { Socket } from 'node:net';
import { type Kysely, PostgresDialect, sql } from 'kysely';
import pg from 'pg';
import { databaseTimeout, UnusableDatabase } from './errors.ts';
import type { Tables } from './tables.ts';

const POOL_SIZE = 6;
const STATEMENT_LIMIT_MS = 10_000;
// The server answers or ends a statement within its limit. A connection without data for longer is
// broken, even if the network does not report it.
const IDLE_TIMEOUT_MS = STATEMENT_LIMIT_MS + 2_000;
const BIGINT = 20;

export interface PoolOptions {
  /** The most connections; 6 by default. */
  readonly poolSize?: number | undefined;
  /** Called for connections that PostgreSQL closed; the pool replaces them. */
  readonly onConnectionError: (error: Error) => void;
  /** Called for each new connection: after the first ones it means that a connection was lost. */
  readonly onConnected?: (() => void) | undefined;
}

export function postgresDialect(
  url: string,
  { poolSize = POOL_SIZE, onConnectionError, onConnected }: PoolOptions,
): PostgresDialect {
  const pool = new pg.Pool({
    connectionString: url,
    max: poolSize,
    application_name: 'signalbox',
    connectionTimeoutMillis: 5_000,
    statement_timeout: STATEMENT_LIMIT_MS,
    lock_timeout: 3_000,
    idle_in_transaction_session_timeout: 10_000,
    // All integers of the schema are exact as numbers; the driver returns text for them by default.
    types: { getTypeParser: (type, format) => parserOf(type, format) },
    stream: () => withIdleTimeout(new Socket()),
  });
  // A restarting server closes connections with an error event, which without a listener ends the
  // process. The pool listens to idle clients only, so that clients in use need a listener as well.
  pool.on('error', onConnectionError);
  pool.on('connect', (client) => {
    client.on('error', onConnectionError);
    onConnected?.();
  });
  const { options } = pool;
  return new PostgresDialect({
    pool: { options, connect: () => connectTo(pool), end: () => pool.end() },
  });
}

function parserOf(type: number, format: 'text' | 'binary' | undefined) {
  return type === BIGINT && format !== 'binary' ? Number : pg.types.getTypeParser(type, format);
}

/** The driver reads the certificate files of the address with each connection, and opens no other file. */
async function connectTo(pool: pg.Pool): Promise<pg.PoolClient> {
  try {
    return await pool.connect();
  } catch (error) {
    if (!isFailedOpen(error)) throw error;
    const problem = `A certificate file that DATABASE_URL names cannot be read: ${error.path} (${error.code})`;
    throw new UnusableDatabase(
      problem,
      'correct the path, or make the file readable for this user',
    );
  }
}

function isFailedOpen(error: unknown): error is Error & { path: string; code: string } {
  return error instanceof Error && 'syscall' in error && error.syscall === 'open';
}

/**
 * A network that drops packets reports no error, and the server cannot enforce its limits then.
 * Without a limit here, all connections would hang for the 15 minutes that the system retries.
 */
function withIdleTimeout(socket: Socket): Socket {
  return socket.setTimeout(IDLE_TIMEOUT_MS, () => {
    socket.destroy(databaseTimeout('The connection to the database sent no data and was closed'));
  });
}

/** Throws where the server may lose a commit that it has answered: a confirmed approval could be lost. */
export async function refuseLossyServer(db: Kysely<Tables>): Promise<void> {
  const { rows } = await sql<{ name: string }>`select name from pg_settings
    where name in ('fsync', 'synchronous_commit') and setting = 'off' order by name`.execute(db);
  if (rows.length === 0) return;
  const off = rows.map(({ name }) => name).join(' and ');
  throw new UnusableDatabase(
    `PostgreSQL has ${off} off: a confirmed approval could be lost`,
    `switch on ${off} for this database; Signalbox does not start without`,
  );
}

/** Why a failover could lose commits that were answered, or null. Signalbox notices the loss, and ends what it touches. */
export async function standbyProblem(db: Kysely<Tables>): Promise<string | null> {
  const { rows } = await sql<{ standbys: number }>`select count(*) as standbys
    from pg_stat_replication where current_setting('synchronous_standby_names') = ''`.execute(db);
  const standbys = rows[0]?.standbys ?? 0;
  if (standbys === 0) return null;
  const has = standbys === 1 ? 'a standby server' : `${standbys} standby servers`;
  return `PostgreSQL has ${has} and no synchronous_standby_names: a failover can lose the last commits`;
}
