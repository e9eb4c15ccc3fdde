import { expect, test } from 'vitest';
import { openUsageDates } from '../../src/costs/reader.ts';
import { writeState } from '../../src/costs/store.ts';
import { transaction } from '../../src/storage/index.ts';
import { ENGINES } from '../storage/engines.ts';
import { freshStore } from '../storage/stores.ts';

function recordedLog() {
  const warnings: unknown[] = [];
  return { warnings, warn: (about: unknown) => void warnings.push(about) };
}

test.for(ENGINES)('the form of the dates is stored for other processes on %s', async (engine) => {
  const database = await freshStore(engine);
  const log = recordedLog();
  const open = () => openUsageDates('auto', database, log);
  expect(await open().load()).toBeNull();
  await open().store('date');
  expect(await open().load()).toBe('date');
  await open().store('date-time');
  expect(await open().load()).toBe('date-time');
  expect(log.warnings).toEqual([]);
});

test('an unknown stored form counts as none', async () => {
  const database = await freshStore('sqlite');
  await transaction(database, (tx) => writeState(tx, 'usage-dates', 'epoch'));
  expect(await openUsageDates('auto', database, recordedLog()).load()).toBeNull();
});

test('while the database is unavailable, the form is detected again and a warning is logged', async () => {
  const database = await freshStore('sqlite');
  await database.close();
  const log = recordedLog();
  const dates = openUsageDates('auto', database, log);
  expect(await dates.load()).toBeNull();
  await dates.store('date');
  expect(log.warnings).toHaveLength(2);
});
