import { expect, test } from 'vitest';
import {
  daysLastPosted,
  deleteLastPosted,
  readLastPosted,
  storeLastPosted,
  toLastPosted,
} from '../../src/costs/digest-data.ts';
import { dayStates } from '../../src/maths/days.ts';
import { transaction } from '../../src/storage/index.ts';
import { ENGINES } from '../storage/engines.ts';
import { freshStore } from '../storage/stores.ts';
import { nineWeeks } from './facts.ts';

const states = dayStates(nineWeeks(), { first: '2026-09-18', last: '2026-11-20' });
const all = toLastPosted(states, {});

test.for(ENGINES)(
  'the posted figures of each digest are kept until it is removed, on %s',
  async (engine) => {
    const store = await freshStore(engine);
    await transaction(store, (tx) => storeLastPosted(tx, 'C1|A', all));
    await transaction(store, (tx) =>
      storeLastPosted(tx, 'C1|B', toLastPosted(states.slice(0, 3), {})),
    );
    expect(await readLastPosted(store, 'C1|A')).toEqual(all);
    await transaction(store, (tx) => deleteLastPosted(tx, 'C1|A'));
    expect(await readLastPosted(store, 'C1|A')).toBeNull();
    expect((await readLastPosted(store, 'C1|B'))?.days).toHaveLength(3);
  },
);

test('eight weeks are kept, without the days without data', () => {
  expect(all.days).toHaveLength(56);
  expect(all.days.at(-1)?.day).toBe('2026-11-19');
});

test('a digest that covers other services now is compared with nothing', () => {
  const posted = toLastPosted(states, { services: ['a', 'b'] });
  expect(daysLastPosted(posted, { services: ['b', 'a'] })).toBe(posted.days);
  expect(daysLastPosted(posted, { services: ['a'] })).toEqual([]);
  expect(daysLastPosted(posted, { warehouses: ['a', 'b'] })).toEqual([]);
  expect(daysLastPosted(null, {})).toEqual([]);
});
