import { globSync } from 'node:fs';
import { expect, test } from 'vitest';

type Migration = (engine: 'sqlite' | 'postgres') => string[];

// The first migration creates the database: no replica runs on an earlier schema.
const LATER = globSync('src/storage/migrations/0*.ts').filter((file) => !file.includes('001'));
const ADDS =
  /^(create (unique )?(table|index)|create trigger|create or replace function|alter table \w+ add column) /;

async function statementsOf(file: string): Promise<readonly string[]> {
  const exported: Record<string, Migration> = await import(`../../${file}`);
  return Object.values(exported).flatMap((schema) => [...schema('sqlite'), ...schema('postgres')]);
}

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

test.for(LATER)('replicas of the previous release continue after %s', async (file) => {
  const statements = await statementsOf(file);
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
