import { CompiledQuery } from 'kysely';
import { changeRow } from '../../src/log/old/change-row.ts';
import { SUCCESS } from '../domain/changes-fixtures.ts';
import { type Engine, openForTest, run } from './engines.ts';
import { aChange, minutes, stored } from './example-change.ts';

/** How many changes a busy organization collects in a year. */
export const MANY = 200_000;

const NUMBERS: Readonly<Record<Engine, string>> = {
  sqlite: `(with recursive s(n) as (select 1 union all select n + 1 from s where n < ${MANY}) select n from s) as s`,
  postgres: `generate_series(1, ${MANY}) as s(n)`,
};
/** One change every two and a half minutes of the year before the test's noon. */
const TIME: Readonly<Record<Engine, string>> = {
  sqlite: `strftime('%Y-%m-%dT%H:%M:%fZ', '2025-08-14 12:00', (s.n * 157) || ' seconds')`,
  postgres: `to_char(timestamp '2025-08-14 12:00' + s.n * interval '157 seconds', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`,
};

/** Opens a database with 200,000 changes, of which 1 % failed and the last 60 are open. */
export async function databaseOfManyChanges(engine: Engine, url: string) {
  const database = await openForTest(url);
  const example = aChange({ state: 'succeeded', outcome: SUCCESS, revertAt: minutes(60) });
  await stored(database, example);
  const columns = [...Object.keys(changeRow(example)), 'card_channel', 'card_ts'];
  const columnsOf: Readonly<Record<string, string>> = {
    id: `'T-' || s.n`,
    state: `case when s.n > ${MANY - 20} then 'pending' when s.n > ${MANY - 40} then 'approved'
      when s.n > ${MANY - 50} then 'executing' when s.n > ${MANY - 60} then 'unknown'
      when s.n % 100 = 0 then 'failed' else 'succeeded' end`,
    created_at: TIME[engine],
    ended_at: `case when s.n > ${MANY - 60} then null else ${TIME[engine]} end`,
    requester: `'U' || (s.n % 500)`,
    target_key: `'service:' || (s.n % 300)`,
    // As in a real year: few changes have a revert, and each of them was planned.
    back_at: `case when s.n % 25 = 0 then ${TIME[engine]} end`,
    lease_owner: `case when s.n > ${MANY - 50} and s.n <= ${MANY - 40} then 'other' end`,
    lease_until: `case when s.n > ${MANY - 50} and s.n <= ${MANY - 40} then '9' end`,
    card_channel: `'CDEV'`,
    card_ts: `'1.' || s.n`,
  };
  const values = columns.map((column) => columnsOf[column] ?? `change.${column}`);
  const insert = `insert into change (${columns.join(', ')}, revert_planned_at)
    select ${values.join(', ')}, case when s.n % 25 = 0 then 'x' end from change, ${NUMBERS[engine]}`;
  if (engine === 'sqlite') await database.db.executeQuery(CompiledQuery.raw(insert));
  else await run(url, `${insert}; analyze change`);
  return database;
}
