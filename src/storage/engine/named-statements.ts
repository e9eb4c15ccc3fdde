import { createHash } from 'node:crypto';
import { sql } from 'kysely';
import type pg from 'pg';
import type { Db } from '../tables/schema.ts';

/** A list of values makes a text for each of its lengths: the statements after these have no name. */
const MAX_NAMED = 500;
/** The error code of a plan from before a column was added: "cached plan must not change result type". */
export const OUTDATED_PLAN = '0A000';

/**
 * Whether this connection keeps what it prepares. A pooler gives the connection to the server to another client
 * after each transaction; it drops the limits that Signalbox sends when it connects, which the server shows.
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

  /** Returns null for a statement that has no name. */
  of(text: string): string | null {
    const known = this.#names.get(text);
    if (known !== undefined) return known;
    if (this.#names.size >= MAX_NAMED) return null;
    const hash = createHash('sha256').update(text).digest('base64url');
    const name = `${hash}-${this.#generation}`;
    this.#names.set(text, name);
    return name;
  }

  /** Gives all statements new names, so that each is planned again. */
  renew(): void {
    this.#names = new Map();
    this.#generation += 1;
  }
}

type Send = (query: string | pg.QueryConfig, values?: unknown[]) => Promise<pg.QueryResult>;

/** Lets the server plan each statement of this client once, which takes a third of its time. */
export function nameStatements(client: pg.ClientBase, names: StatementNames): void {
  const send: Send = client.query.bind(client);
  const query: Send = async (text, values) => {
    if (typeof text !== 'string' || !values?.length) return send(text, values);
    const name = names.of(text);
    if (name === null) return send(text, values);
    try {
      return await send({ name, text, values });
    } catch (error) {
      if (!isOutdatedPlan(error)) throw error;
      names.renew();
      // Nothing was run. A transaction is lost, and its caller begins it again.
      if (client.getTransactionStatus() !== 'I') throw error;
      return send(text, values);
    }
  };
  Object.assign(client, { query });
}

function isOutdatedPlan(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === OUTDATED_PLAN;
}
