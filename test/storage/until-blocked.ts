import { sql } from 'kysely';
import { expect } from 'vitest';
import type { Db } from '../../src/storage/old/schema.ts';

/** Resolves when a transaction of this worker waits for a lock of PostgreSQL. */
export async function untilBlocked(db: Db): Promise<void> {
  const blocked = async () => {
    const { rows } = await sql<{ n: number }>`
      select count(*)::int as n from pg_stat_activity
      where wait_event_type = 'Lock' and datname = current_database()`.execute(db);
    return rows[0]?.n;
  };
  await expect.poll(blocked).toBeGreaterThan(0);
}
