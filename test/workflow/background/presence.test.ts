import { pino } from 'pino';
import { expect, onTestFinished, test } from 'vitest';
import type { Database } from '../../../src/storage/engine/database.ts';
import { listInstances } from '../../../src/storage/tables/instances.ts';
import { startPresence } from '../../../src/workflow/background/presence.ts';
import { ENGINES, freshDatabase } from '../../storage/engines.ts';
import { NOON } from '../../storage/example-change.ts';

const MINUTE_MS = 60_000;

function starting(database: Database, instance: string, { version = '1.0.0', minutes = 0 } = {}) {
  const now = () => new Date(NOON.getTime() + minutes * MINUTE_MS);
  const log = pino({ level: 'silent' });
  const presence = startPresence({ database, instance, now, log }, version);
  onTestFinished(presence.stop);
  return presence;
}

async function seen(database: Database) {
  return (await listInstances(database.db)).map(({ id, version }) => `${id} ${version}`);
}

test.for(ENGINES)('replicas are listed with their versions, in order, on %s', async (engine) => {
  const database = await freshDatabase(engine);
  starting(database, 'b', { minutes: 1, version: '1.1.0' });
  const first = starting(database, 'a');
  await expect.poll(() => seen(database)).toEqual(['a 1.0.0', 'b 1.1.0']);

  await first.stop();
  expect(await seen(database)).toEqual(['b 1.1.0']);
});

test('a killed replica is listed for ten minutes', async () => {
  const database = await freshDatabase('sqlite');
  starting(database, 'killed');
  await expect.poll(() => seen(database)).toEqual(['killed 1.0.0']);
  starting(database, 'early', { minutes: 9 });
  await expect.poll(() => seen(database)).toEqual(['killed 1.0.0', 'early 1.0.0']);
  starting(database, 'later', { minutes: 11 });
  await expect.poll(() => seen(database)).toEqual(['early 1.0.0', 'later 1.0.0']);
});
