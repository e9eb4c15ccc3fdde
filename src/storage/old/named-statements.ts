import { createHash } from 'node:crypto';
import { sql } from 'kysely';
import type pg from 'pg';
import type { Db } from './schema.ts';

/** A list of values makes a text for each of its lengths: the statements after these have no name. */
const MAX_NAMED = 500;
/** A column was added after the server had planned the statement: "cached plan must not change result type". */
const OUTDATED = '0A000';
/** The server does not know the name, or knows it already: a pooler gave another client the connection. */
const SHARED_CONNECTION = ['26000', '42P05'];
/** The errors of a name. The server has not run the statement, so that it can be repeated. */
export const NAME_ERRORS: readonly string[] = [OUTDATED, ...SHARED_CONNECTION];

/**
 * Whether this connection keeps what it prepares. A pooler gives the connection to the server to another client
 * after each transaction. Most poolers also drop the limits that Signalbox sends when it connects, so that
 * the server has other ones.
 */
export async function keepsStatements(db: Db): Promise<boolean> {
  const { rows } = await sql<{ source: string }>`
    select source from pg_settings where name = 'statement_timeout'`.execute(db);
  return rows[0]?.source === 'client';
}

/**
 * The names of the statements of this process. The same name always means the same text, so that no connection
 * can run another statement under it.
 */
export class StatementNames {
  #names = new Map<string, string>();
  #generation = 0;
  #isOff = false;

  /** Returns null for a statement that has no name. */
  of(text: string): string | null {
    const known = this.#names.get(text);
    if (known !== undefined) return known;
    if (this.#isOff || this.#names.size >= MAX_NAMED) return null;
    const hash = createHash('sha256').update(text).digest('base64url');
    const name = `${hash}-${this.#generation}`;
    this.#names.set(text, name);
    return name;
  }

  /** After an error of a name: gives all statements new names, or none if connections are shared. */
  recover(code: string): void {
    this.#isOff ||= SHARED_CONNECTION.includes(code);
    this.#names = new Map();
    this.#generation += 1;
  }
}

type Send = (query: string | pg.QueryConfig, values?: unknown[]) => Promise<pg.QueryResult>;

/** As Kysely begins and ends a transaction. */
const BEGINS = /^(begin|start transaction)\b/;
const ENDS = ['commit', 'rollback'];

/** Lets the server plan each statement of this client once, which takes a third of its time. */
export function nameStatements(client: pg.ClientBase, names: StatementNames): void {
  const send: Send = client.query.bind(client);
  // As of the statements that were sent: the commit of a transaction can follow a statement without a wait.
  let isInTransaction = false;
  const query: Send = async (text, values) => {
    if (typeof text === 'string' && BEGINS.test(text)) isInTransaction = true;
    if (typeof text === 'string' && ENDS.includes(text)) isInTransaction = false;
    if (typeof text !== 'string' || !values?.length) return send(text, values);
    const name = names.of(text);
    if (name === null) return send(text, values);
    const isRepeatable = !isInTransaction;
    try {
      return await send({ name, text, values });
    } catch (error) {
      const code = error instanceof Error && 'code' in error ? String(error.code) : '';
      if (!NAME_ERRORS.includes(code)) throw error;
      names.recover(code);
      // Nothing was run. A transaction is lost, and its caller begins it again.
      if (!isRepeatable || client.getTransactionStatus() !== 'I') throw error;
      return send(text, values);
    }
  };
  Object.assign(client, { query });
}
