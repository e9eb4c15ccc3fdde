import type { Duplex } from 'node:stream';
import type pg from 'pg';

/** As Kysely begins the transactions of `singleCommits`. */
const BEGIN = 'start transaction isolation level read committed';
const BEGUN: pg.QueryResult = { command: 'START', rowCount: null, oid: 0, fields: [], rows: [] };

const READS = /^\s*select\b/i;

type Query = (query: string | pg.QueryConfig, values?: unknown[]) => Promise<pg.QueryResult>;

/**
 * Saves waits for the server: a transaction begins together with its first reads, and all statements of one turn
 * of the event loop are written at once. A write waits until the transaction has begun, because it would be
 * committed without one.
 */
export function pipelineStatements(client: pg.ClientBase): void {
  const send: Query = client.query.bind(client);
  let beginning: Promise<pg.QueryResult> | null = null;
  let isHeld = false;

  const begin = () => {
    writeTogether(streamOf(client));
    const begun = send(BEGIN);
    beginning = begun;
    isHeld = false;
    const end = () => {
      if (beginning === begun) beginning = null;
    };
    begun.then(end, (error: Error) => {
      end();
      // Statements that the caller sends now would run without the transaction.
      streamOf(client).destroy(error);
    });
    return Promise.resolve(BEGUN);
  };
  const query: Query = (text, values) => {
    if (text === BEGIN) return begin();
    const write = () => {
      writeTogether(streamOf(client));
      return send(text, values);
    };
    if (beginning === null) return write();
    isHeld ||= !READS.test(typeof text === 'string' ? text : text.text);
    // The statements keep their order.
    return isHeld ? beginning.then(write) : write();
  };
  Object.assign(client, { query });
}

function writeTogether(stream: Duplex): void {
  if (stream.writableCorked > 0) return;
  stream.cork();
  process.nextTick(() => stream.uncork());
}

/** The driver has this property since its first release; only its types lack it. */
function streamOf(client: pg.ClientBase): Duplex {
  return (client as unknown as { connection: { stream: Duplex } }).connection.stream;
}
