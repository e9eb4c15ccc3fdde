import { expect, test } from 'vitest';
import { MIGRATIONS } from '../../src/storage/old/migrate.ts';

// The first migration creates the database: no replica runs on an earlier schema.
const LATER = MIGRATIONS.slice(1).map((migration) => [migration.name, migration] as const);
const ADDS =
  /^(create (unique )?(table|index)|create trigger|create or replace function|alter table \w+ add column) /;

/** Whether a replica of the previous release can continue after this statement. */
function isAddition(statement: string, all: readonly string[] = []): boolean {
  const filled = /^update \w+ set (\w+) = /.exec(statement.trim())?.[1];
  // A column that the same migration adds may be filled: the previous release does not read it.
  if (filled) return all.some((other) => other.includes(` add column ${filled} `));
  // A trigger may be replaced, but not dropped.
  const dropped = /^drop trigger (\w+)/.exec(statement)?.[1];
  if (dropped) return all.some((other) => other.includes(`create trigger ${dropped} `));
  if (!ADDS.test(statement.trim())) return false;
  const demandsValue = /add column .*not null/s.test(statement) && !/default/.test(statement);
  return !demandsValue;
}

test.for(LATER)('replicas of the previous release continue after %s', ([, migration]) => {
  const statements = [...migration('sqlite'), ...migration('postgres')];
  expect(statements.length).toBeGreaterThan(0);
  expect(statements.filter((statement) => !isAddition(statement, statements))).toEqual([]);
});

test.for([
  'drop table digest',
  'drop trigger audit_event_no_delete',
  'alter table change rename column note to reason',
  'alter table change add column weight integer not null',
  'update change set state = 1',
])('a migration that breaks running replicas is found: “%s”', (statement) => {
  expect(isAddition(statement)).toBe(false);
});
