import { pino } from 'pino';
import { expect, onTestFinished, test } from 'vitest';
import { mayExecute } from '../../src/log/old/configurations.ts';
import type { Database } from '../../src/storage/old/database.ts';
import { listInstances } from '../../src/storage/old/instances.ts';
import { startPresence } from '../../src/workflow/old/presence.ts';
import { ENGINES, freshDatabase } from '../storage/engines.ts';
import { NOON } from '../storage/example-change.ts';

const MINUTE_MS = 60_000;

async function starting(
  database: Database,
  instance: string,
  { version = '1.0.0', minutes = 0, configuration = 'c1', replaces = null as string | null } = {},
) {
  const now = () => new Date(NOON.getTime() + minutes * MINUTE_MS);
  const log = pino({ level: 'silent' });
  const context = { database, instance, configuration, now, log };
  const presence = await startPresence(context, { version, replaces });
  onTestFinished(presence.stop);
  return presence;
}

async function seen(database: Database) {
  return (await listInstances(database.db)).map(({ id, version }) => `${id} ${version}`);
}

test.for(ENGINES)('replicas are listed with their versions, in order, on %s', async (engine) => {
  const database = await freshDatabase(engine);
  await starting(database, 'b', { minutes: 1, version: '1.1.0' });
  const first = await starting(database, 'a');
  expect(await seen(database)).toEqual(['a 1.0.0', 'b 1.1.0']);

  await first.stop();
  expect(await seen(database)).toEqual(['b 1.1.0']);
});

test('a killed replica is listed for ten minutes', async () => {
  const database = await freshDatabase('sqlite');
  await starting(database, 'killed');
  expect(await seen(database)).toEqual(['killed 1.0.0']);
  await starting(database, 'early', { minutes: 9 });
  expect(await seen(database)).toEqual(['killed 1.0.0', 'early 1.0.0']);
  await starting(database, 'later', { minutes: 11 });
  expect(await seen(database)).toEqual(['early 1.0.0', 'later 1.0.0']);
});

type Start = readonly [
  instance: string,
  configuration: string,
  minutes?: number,
  replaces?: string,
];

test.for<[string, string, readonly Start[]]>([
  ['the only one', 'c1', [['a', 'c1']]],
  [
    'a new one',
    'c2',
    [
      ['a', 'c1'],
      ['b', 'c2'],
    ],
  ],
  [
    'the new one although a replica restarts with an earlier one',
    'c2',
    [
      ['a', 'c1'],
      ['b', 'c2'],
      ['c', 'c1', 1],
    ],
  ],
  [
    'an earlier one once no replica has used the new one for three minutes',
    'c1',
    [
      ['a', 'c1'],
      ['b', 'c2'],
      ['c', 'c1', 4],
    ],
  ],
  [
    'an earlier one that a reload of the only replica brings back',
    'c1',
    [
      ['a', 'c1'],
      ['b', 'c2', 0, 'a'],
      ['c', 'c1', 0, 'b'],
    ],
  ],
])('the configuration that may execute is %s', async ([, expected, starts]) => {
  const database = await freshDatabase('sqlite');
  for (const [instance, configuration, minutes = 0, replaces] of starts) {
    await starting(database, instance, { configuration, minutes, replaces: replaces ?? null });
  }
  for (const hash of ['c1', 'c2']) {
    expect(await mayExecute(database.db, hash), hash).toBe(hash === expected);
  }
});
