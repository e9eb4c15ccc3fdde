import { sql } from 'kysely';
import { pino } from 'pino';
import { expect, onTestFinished } from 'vitest';
import { openDirectory } from '../../src/servers/directory.ts';
import { learnServices } from '../../src/servers/facts.ts';
import { transaction } from '../../src/storage/index.ts';
import { NOON } from '../domain/changes-fixtures.ts';
import { onEngines } from '../storage/engines.ts';
import { freshStore } from '../storage/stores.ts';

const named = (id: string) => {
  return { id, organizationId: 'o1', name: id, fields: {}, source: 'a reply', seenAt: NOON };
};

onEngines('the directory opens without an unreadable service and logs it once', async (engine) => {
  const store = await freshStore(engine);
  await transaction(store, async (tx) => {
    await learnServices(tx, [named('s1'), named('s2')]);
    await sql`update known_service set fields = '{half' where id = 's1'`.execute(tx);
  });
  const logged: unknown[] = [];
  const log = pino({ level: 'warn' }, { write: (line) => void logged.push(JSON.parse(line)) });
  const organizations = [{ id: 'o1', name: null }];
  const config = { organizations, services: [], reads: 'contract' as const, serverTags: [] };
  const directory = await openDirectory({ ...{ config, store, log }, now: () => NOON });
  onTestFinished(directory.close);
  expect(directory.services().map(({ id }) => id)).toEqual(['s2']);

  await transaction(store, (tx) => learnServices(tx, [named('s3')]));
  directory.refresh();
  await expect.poll(() => directory.services().length).toBe(2);
  expect(logged).toMatchObject([
    { service: 's1', msg: 'row of known_service cannot be read; it is left out' },
  ]);
});
