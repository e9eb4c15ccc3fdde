import { expect, test } from 'vitest';
import { addToRateCounters, pruneRateCounters } from '../../src/storage/old/rate-counters.ts';
import { ENGINES, freshDatabase } from './engines.ts';
import { ana, ben, minutes, NOON } from './example-change.ts';

const click = { kind: 'click', since: NOON };

test.for(ENGINES)(
  'each user has one count per window, whichever replica counts (%s)',
  async (engine) => {
    const { transaction } = await freshDatabase(engine);
    const add = (more: [typeof ana, number][], about = click) =>
      transaction((tx) => addToRateCounters(tx, { ...about, more: new Map(more) }));
    await Promise.all(Array.from({ length: 20 }, () => add([[ana, 2]])));
    // In both orders at once: replicas take the rows in one, so that neither waits for the other.
    await Promise.all([
      add([
        [ben, 1],
        [ana, 1],
      ]),
      add([
        [ana, 1],
        [ben, 1],
      ]),
    ]);
    expect(await add([[ana, 1]])).toEqual(new Map([[ana, 43]]));
    expect(await add([[ana, 1]], { kind: 'draft', since: NOON })).toEqual(new Map([[ana, 1]]));
    expect(await add([[ana, 1]], { kind: 'click', since: minutes(1) })).toEqual(
      new Map([[ana, 1]]),
    );
    expect(await add([])).toEqual(new Map());
  },
);

test.for(ENGINES)('counts of old time windows are deleted (%s)', async (engine) => {
  const { transaction } = await freshDatabase(engine);
  const one = (since: Date) =>
    transaction((tx) => addToRateCounters(tx, { kind: 'click', since, more: new Map([[ana, 1]]) }));
  await one(NOON);
  await one(minutes(5));
  await transaction((tx) => pruneRateCounters(tx, minutes(5)));
  expect(await one(NOON)).toEqual(new Map([[ana, 1]]));
  expect(await one(minutes(5))).toEqual(new Map([[ana, 2]]));
});
