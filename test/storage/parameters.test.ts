import { sql } from 'kysely';
import { expect, test } from 'vitest';
import { parameterBinder } from '../../src/storage/sqlite.ts';
import { freshStore } from './stores.ts';

test.for<[string, readonly unknown[], string]>([
  ['a date', [new Date(0), 'x'], 'Parameter 1 is [object Date]'],
  ['an object', [{ a: 'x' }, 'x'], 'Parameter 1 is [object Object]'],
  ['an array', ['x', ['y']], 'Parameter 2 is [object Array]'],
  ['undefined', ['x', undefined], 'Parameter 2 is undefined'],
  ['NaN', ['x', Number.NaN], 'Parameter 2 is number'],
  ['a function', ['x', () => 'y'], 'Parameter 2 is function'],
  ['too few values', ['x'], 'has 2 parameters but 1 values'],
  ['too many values', ['x', 'y', 'z'], 'has 2 parameters but 3 values'],
])('%s is not bound', ([, values, message]) => {
  expect(() => parameterBinder('insert into t values (?, ?)')(values)).toThrow(message);
});

test.for<[string, string, number]>([
  ['a text', 'select \'?\', ? as "odd ?"', 1],
  ['a text with a quote', "select 'it''s ?', ?", 1],
  ['a comment', 'select ? -- why?\n/* ? */', 1],
])('a question mark in %s is no parameter', ([, statement, count]) => {
  expect(parameterBinder(statement)(Array(count).fill('x'))).toHaveLength(count);
});

test.for(['select ?1', 'select :name', 'select @name', 'select $name'])(
  'other kinds of parameters are refused: %s',
  (statement) => {
    expect(() => parameterBinder(statement)(['x'])).toThrow('are not supported');
  },
);

test('values with a column type are accepted, and a boolean becomes a number', () => {
  const bytes = new Uint8Array([1]);
  const values = parameterBinder('values (?, ?, ?, ?, ?, ?)')(['x', 1.5, 2n, null, true, bytes]);
  expect(values).toEqual(['x', 1.5, 2n, null, 1, bytes]);
});

// Without the check, this statement stores `x` in the first column and NULL in the second.
test('a date before other values never reaches the database', async () => {
  const { root: db } = await freshStore('sqlite');
  const shifted = sql`select ${new Date(0)} as a, ${'x'} as b`.execute(db);
  await expect(shifted).rejects.toThrow('Parameter 1 is [object Date]');
});

test('a statement that ran before sees a column that was added since', async () => {
  const { root: db } = await freshStore('sqlite');
  const rows = async () => (await sql`select * from grown`.execute(db)).rows;
  await sql`create table grown (first integer)`.execute(db);
  await sql`insert into grown values (1)`.execute(db);
  expect(await rows()).toEqual([{ first: 1 }]);
  await sql`alter table grown add column second integer default 2`.execute(db);
  expect(await rows()).toEqual([{ first: 1, second: 2 }]);
});
