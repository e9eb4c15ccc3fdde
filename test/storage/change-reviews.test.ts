import { expect, test } from 'vitest';
import { changesToReview } from '../../src/storage/changes.ts';
import { ENGINES, freshDatabase } from './engines.ts';
import { ana, ben, elsewhere, NOON, stored } from './example-change.ts';

const brokenGlass = { by: ana, at: NOON, reason: 'the shop is down' };
const review = { by: ben, at: NOON, note: 'it was right' };

test.for(ENGINES)('what is to be looked at is over, and nobody has (%s)', async (engine) => {
  const database = await freshDatabase(engine);
  const due = elsewhere({ state: 'denied', stopped: 'frozen', brokenGlass });
  await stored(
    database,
    due,
    elsewhere({ state: 'denied', stopped: 'frozen' }),
    elsewhere({ state: 'approved', brokenGlass }),
    elsewhere({ state: 'unknown', brokenGlass }),
    elsewhere({ state: 'failed', brokenGlass, review }),
  );
  const found = await changesToReview(database.db, 10);
  expect(found.map(({ id }) => id)).toEqual([due.id]);
  expect(found[0]?.brokenGlass).toEqual(brokenGlass);
});
