import { CompiledQuery } from 'kysely';
import { expect, test } from 'vitest';
import { effectiveFreezes } from '../../src/log/old/active-freezes.ts';
import { lastSentChanges } from '../../src/log/old/last-sent.ts';
import { sentSince } from '../../src/log/old/permits.ts';
import { claimDueMessages, pruneOutbox } from '../../src/storage/old/outbox.ts';
import { openPostgres } from '../../src/storage/old/postgres.ts';
import { openSqlite, sqlitePath } from '../../src/storage/sqlite.ts';
import { ENGINES, freshUrl, openForTest, run } from '../storage/engines.ts';
import { aChange, minutes, NOON, newId, STAGING, stored } from '../storage/example-change.ts';
import { asTx, type Query, readPlan, record, rowsRead } from '../storage/recorded-plans.ts';

/** Each periodic statement, its table, and the index that keeps its time independent of the past. */
const STATEMENTS: readonly [name: string, table: string, index: RegExp, statement: Query][] = [
  [
    'the deletion of sent messages',
    'outbox',
    /outbox_done/,
    (db) => pruneOutbox(asTx(db), minutes(-1_440)),
  ],
  [
    'the search for freezes',
    'audit_event',
    /audit_event_freezes/,
    (db) => effectiveFreezes(db, null, NOON),
  ],
  [
    'the search for due messages',
    'outbox',
    /outbox_open \(not_before.*SCAN other USING INDEX outbox_open/,
    (db) => claimDueMessages(asTx(db), { owner: 'replica-1', now: NOON, leaseMs: 1, limit: 50 }),
  ],
  [
    'the requests to a target since a time',
    'send_permit',
    /sqlite_autoindex_send_permit_\d|send_permit_by_age/,
    (db) => sentSince(db, STAGING, { since: NOON, except: newId() }),
  ],
  [
    'the last sent changes of each service',
    'change',
    /change_sent_by_target.*change_sent_by_target/,
    (db) => lastSentChanges(db, { kind: 'service', commands: ['service stop'], since: NOON }),
  ],
];

test.for(STATEMENTS)('on SQLite, %s uses its index', async ([, , index, statement]) => {
  const url = await freshUrl('sqlite');
  await openForTest(url);
  const { db, queriesOf } = record(openSqlite(sqlitePath(url)));
  const plan: string[] = [];
  for (const { sql, parameters } of await queriesOf(statement)) {
    const explain = CompiledQuery.raw(`explain query plan ${sql}`, [...parameters]);
    const { rows } = await db.executeQuery<{ detail: string }>(explain);
    plan.push(...rows.map(({ detail }) => detail));
  }
  expect(plan.join()).toMatch(index);
});

/** A database with many rows, for all statements. */
let filled: Promise<string> | null = null;

async function databaseOfManyRows(): Promise<string> {
  const url = await freshUrl('postgres');
  const change = aChange();
  await stored(await openForTest(url), change);
  await run(
    url,
    `insert into outbox (change_id, kind, not_before, attempts, done_at)
      select 'T' || n, 'card', '2026', 1, '2026-08-14T11' from generate_series(1, 20000) as s(n);
    insert into send_permit (change_id, n, owner, at)
      select '${change.id}', n, 'replica-1', '2026-08-01' from generate_series(1, 20000) as s(n);
    analyze outbox; analyze send_permit`,
  );
  return url;
}

test.runIf(ENGINES.includes('postgres')).for(STATEMENTS)(
  'on PostgreSQL, %s reads few rows',
  async ([, table, , statement]) => {
    filled ??= databaseOfManyRows();
    const url = await filled;
    const { db, queriesOf } = record(openPostgres(url, { onError: () => undefined }));
    for (const { sql, parameters } of await queriesOf(statement)) {
      const [plan] = await readPlan(db, sql, parameters);
      expect(plan && rowsRead(plan, table)).toBeLessThan(100);
    }
  },
);
