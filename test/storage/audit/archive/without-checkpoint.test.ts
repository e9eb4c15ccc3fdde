import { expect, test } from 'vitest';
import { findRange } from '../../../../src/storage/audit/archive/archive.ts';
import { verifyChain } from '../../../../src/storage/audit/verification/verify-chain.ts';
import { openDatabase } from '../../../../src/storage/engine/database.ts';
import { writeMeta } from '../../../../src/storage/tables/meta.ts';
import { ENGINES, freshDatabase, freshUrl } from '../../engines.ts';
import { migrateAsOlder } from '../../newer-schema.ts';
import { archiveInto, BEFORE, KEY, oldTrail, segmentsFolder } from './old-trail.ts';

test.for(ENGINES)(
  'events that the role of the bot deletes without a checkpoint are reported missing on %s',
  async (engine) => {
    const database = await freshDatabase(engine);
    await oldTrail(database);
    // No trigger is dropped: the role of the bot may write this row.
    await database.transaction(async (tx) => {
      await writeMeta(tx, 'audit-archived', '4');
      await tx.deleteFrom('audit_event').where('seq', '<=', 4).execute();
    });
    const missing = { ok: false, seq: 1, problem: 'event-missing' };
    expect(await verifyChain(database.db, KEY)).toEqual(missing);
    await expect(findRange(database.db, KEY, { before: BEFORE })).rejects.toThrow('not intact');
  },
);

test.for(ENGINES)(
  'a release that cannot verify from a checkpoint starts on %s until the first archive only',
  async (engine) => {
    const url = await freshUrl(engine);
    const database = await openDatabase(url);
    await oldTrail(database);
    await database.close();
    await migrateAsOlder(url, 15);

    const again = await openDatabase(url);
    await archiveInto(again, segmentsFolder());
    await again.close();
    await expect(migrateAsOlder(url, 15)).rejects.toThrow(
      'needs a Signalbox with version 16 or later. This Signalbox has 15.',
    );
  },
);
