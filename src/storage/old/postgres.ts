import { Socket } from 'node:net';
import { type Kysely, PostgresAdapter, PostgresDialect, sql } from 'kysely';
import pg from 'pg';
import { databaseTimeout, UnusableDatabase } from '../errors.ts';
import { nameStatements, StatementNames } from './named-statements.ts';
import { pipelineStatements } from './pipeline.ts';
import type { Db, Tables } from './schema.ts';

/** More of them would mostly wait for the end of the audit trail, and each one plans every statement. */
export const CONNECTIONS = 6;
const STATEMENT_LIMIT_MS = 10_000;
// The server answers or ends a statement within its limit. A connection without data for longer is
// broken, even if the network does not report it.
const IDLE_TIMEOUT_MS = STATEMENT_LIMIT_MS + 2_000;

interface PostgresOptions {
  readonly onError: (error: Error) => void;
  /** Called for each new connection. */
  readonly onConnected?: (() => void) | undefined;
  readonly poolSize?: number | undefined;
  /** Null: no limit, for migrations. */
  readonly idleTimeoutMs?: number | null;
  /** Whether the server plans each statement once per connection. */
  readonly namesStatements?: boolean;
}

export function openPostgres(url: string, options: PostgresOptions): PostgresDialect {
  const { onError, onConnected, poolSize = CONNECTIONS, idleTimeoutMs = IDLE_TIMEOUT_MS } = options;
  const { namesStatements = false } = options;
  const pool = new pg.Pool({
    connectionString: url,
    max: poolSize,
    application_name: 'signalbox',
    connectionTimeoutMillis: 5_000,
    statement_timeout: STATEMENT_LIMIT_MS,
    lock_timeout: 3_000,
    pipeline: true,
    idle_in_transaction_session_timeout: 10_000,
    stream: () => withIdleTimeout(new Socket(), idleTimeoutMs),
  });
  // A restarting server closes connections with an error event, which without a listener ends the
  // process. The pool listens to idle clients only, so that clients in use need a listener as well.
  pool.on('error', onError);
  const names = new StatementNames();
  pool.on('connect', (client) => {
    client.on('error', onError);
    pipelineStatements(client);
    if (namesStatements) nameStatements(client, names);
    onConnected?.();
  });
  const { options: settings } = pool;
  return new PostgresDialect({
    pool: { options: settings, connect: () => connectTo(pool), end: () => pool.end() },
  });
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
function withIdleTimeout(socket: Socket, idleTimeoutMs: number | null): Socket {
  if (idleTimeoutMs === null) return socket;
  return socket.setTimeout(idleTimeoutMs, () => {
    socket.destroy(databaseTimeout('The connection to the database sent no data and was closed'));
  });
}

/** The settings that make a committed row survive a power loss. */
export interface Durability {
  readonly fsync: string;
  readonly synchronousCommit: string;
}

export async function readDurability(db: Kysely<Tables>): Promise<Durability> {
  const { rows } = await sql<Durability>`
    select current_setting('fsync') as "fsync",
      current_setting('synchronous_commit') as "synchronousCommit"`.execute(db);
  const [row] = rows;
  if (!row) throw new Error('PostgreSQL did not return its settings');
  return row;
}

export function refuseLossy({ fsync, synchronousCommit }: Durability): void {
  const off = [
    ...(fsync === 'off' ? ['fsync'] : []),
    ...(synchronousCommit === 'off' ? ['synchronous_commit'] : []),
  ];
  if (off.length === 0) return;
  throw new UnusableDatabase(
    `PostgreSQL has ${off.join(' and ')} off: a confirmed approval could be lost.`,
    `switch on ${off.join(' and ')} for this database; Signalbox does not start without`,
  );
}

export function onPostgres(db: Db): boolean {
  return db.getExecutor().adapter instanceof PostgresAdapter;
}
