import { expect, test } from 'vitest';
import { dayStates } from '../../src/costs/ledger/ledger.ts';
import {
  forgetSaid,
  postedOf,
  readSaid,
  saidOf,
  storeSaid,
} from '../../src/digests/last-posted.ts';
import { ENGINES, freshDatabase } from '../storage/engines.ts';
import { nineWeeks } from './facts.ts';

const states = dayStates(nineWeeks(), { first: '2026-10-01', last: '2026-11-20' });
const all = saidOf(states, {});

test.for(ENGINES)(
  'what a digest said is kept of each, until it is removed, on %s',
  async (engine) => {
    const { db, transaction } = await freshDatabase(engine);
    await transaction((tx) => storeSaid(tx, 'C1|A', all));
    await transaction((tx) => storeSaid(tx, 'C1|B', saidOf(states.slice(0, 3), {})));
    expect(await readSaid(db, 'C1|A')).toEqual(all);
    await transaction((tx) => forgetSaid(tx, 'C1|A'));
    expect(await readSaid(db, 'C1|A')).toBeNull();
    expect((await readSaid(db, 'C1|B'))?.days).toHaveLength(3);
  },
);

test('three weeks are kept, without the days of which nothing is known', () => {
  expect(all.days).toHaveLength(21);
  expect(all.days.at(-1)?.day).toBe('2026-11-19');
});

test('a digest that covers other services now compares with nothing it said', () => {
  const said = saidOf(states, { services: ['a', 'b'] });
  expect(postedOf(said, { services: ['b', 'a'] })).toBe(said.days);
  expect(postedOf(said, { services: ['a'] })).toEqual([]);
  expect(postedOf(said, { warehouses: ['a', 'b'] })).toEqual([]);
  expect(postedOf(null, {})).toEqual([]);
});
