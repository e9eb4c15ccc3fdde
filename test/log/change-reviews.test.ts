import { expect, test } from 'vitest';
import { changesToReview } from '../../src/log/old/change-lists.ts';
import { ENGINES, freshDatabase } from '../storage/engines.ts';
import { ana, ben, elsewhere, minutes, NOON, newId, stored } from '../storage/example-change.ts';

const breakGlass = { by: ana, at: NOON, reason: 'the shop is down' };
const made = { id: newId(), by: ben };
const frozenBy = { until: minutes(60), reason: 'the launch', by: null, made };
const review = { by: ben, at: NOON, note: 'it was right' };

test.for(ENGINES)('changes to review have ended without a review (%s)', async (engine) => {
  const database = await freshDatabase(engine);
  const due = elsewhere({ state: 'denied', stopReason: 'frozen', breakGlass, frozenBy });
  await stored(
    database,
    due,
    elsewhere({ state: 'denied', stopReason: 'frozen' }),
    elsewhere({ state: 'approved', breakGlass }),
    elsewhere({ state: 'unknown', breakGlass }),
    elsewhere({ state: 'failed', breakGlass, review }),
  );
  const found = await changesToReview(database.db, 10);
  expect(found.map(({ id }) => id)).toEqual([due.id]);
  expect(found[0]).toMatchObject({ breakGlass, frozenBy });
});
