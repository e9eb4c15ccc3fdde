import { globSync } from 'node:fs';
import { expect, test } from 'vitest';

type Migration = (engine: 'sqlite' | 'postgres') => string[];

// The first one makes the database, so that nobody runs on what was before it.
const LATER = globSync('src/storage/*-schema.ts').filter((file) => !file.includes('first'));
const ADDS = /^(create (unique )?(table|index)|create trigger|alter table \w+ add column) /;

async function statementsOf(file: string): Promise<readonly string[]> {
  const exported: Record<string, Migration> = await import(`../../${file}`);
  return Object.values(exported).flatMap((schema) => [...schema('sqlite'), ...schema('postgres')]);
}

/** Whether a replica of the release before can go on with the database after it. */
function isAddition(statement: string): boolean {
  if (!ADDS.test(statement.trim())) return false;
  const demandsValue = /add column .*not null/s.test(statement) && !/default/.test(statement);
  return !demandsValue;
}

test.for(LATER)('replicas of the release before go on after %s', async (file) => {
  const statements = await statementsOf(file);
  expect(statements.length).toBeGreaterThan(0);
  expect(statements.filter((statement) => !isAddition(statement))).toEqual([]);
});

test.for([
  'drop table digest',
  'alter table change rename column note to reason',
  'alter table change add column weight integer not null',
  'update change set state = 1',
])('it is noticed that a running replica would stumble over “%s”', (statement) => {
  expect(isAddition(statement)).toBe(false);
});
