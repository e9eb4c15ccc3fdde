import { expect, test } from 'vitest';
import { rememberChannelId, storedChannelIds } from '../../src/log/old/channel-ids.ts';
import { ENGINES, freshDatabase } from '../storage/engines.ts';

test.for(ENGINES)('a channel name keeps the id that was stored first on %s', async (engine) => {
  const database = await freshDatabase(engine);
  const remember = (id: string) =>
    database.transaction((tx) => rememberChannelId(tx, '#db-costs', id));
  expect(await remember('C0FIRST0001')).toBe('C0FIRST0001');
  expect(await remember('C0SECOND001')).toBe('C0FIRST0001');
  expect([...(await storedChannelIds(database.db))]).toEqual([['#db-costs', 'C0FIRST0001']]);
});
