import { sql } from 'kysely';
import type { Database } from '../../src/storage/old/database.ts';

const DISARM = {
  postgres: ['drop trigger if exists audit_event_only_added on audit_event'],
  sqlite: [
    'drop trigger if exists audit_event_no_update',
    'drop trigger if exists audit_event_no_delete',
  ],
};

/** An attacker who owns the database, so that they can drop triggers, but has no key. */
export async function tamper(database: Database, ...statements: string[]): Promise<void> {
  await database.transaction(async (tx) => {
    for (const statement of [...DISARM[database.engine], ...statements]) {
      await sql.raw(statement).execute(tx);
    }
  });
}

/** Statements that modify, restore and delete an event of the user UANA. */
export const modify = (seq: number) =>
  `update audit_event set body = replace(body, 'UANA', 'UBEN') where seq = ${seq}`;
export const restore = (seq: number) =>
  `update audit_event set body = replace(body, 'UBEN', 'UANA') where seq = ${seq}`;
export const remove = (seq: number) => `delete from audit_event where seq = ${seq}`;
