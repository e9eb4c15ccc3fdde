import { readdirSync } from 'node:fs';
import { expect, test } from 'vitest';
import { findRange } from '../../src/log/old/archive.ts';
import { verifyChain } from '../../src/log/old/verify-chain.ts';
import { openDatabase } from '../../src/storage/old/database.ts';
import { dropMeta, writeMeta } from '../../src/storage/old/meta.ts';
import { ENGINES, freshDatabase, freshUrl } from '../storage/engines.ts';
import { migrateAsOlder } from '../storage/newer-schema.ts';
import {
  archiveInto,
  BEFORE,
  KEY,
  oldTrail,
  segmentsFolder,
  seqsOf,
} from '../storage/old-trail.ts';
import { tamper } from '../storage/tamper.ts';

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

test('the row of the installation cannot choose the folder of a segment', async () => {
  const database = await freshDatabase('sqlite');
  await oldTrail(database);
  const folder = segmentsFolder();
  await database.transaction((tx) => writeMeta(tx, 'installation', '/../outside'));
  await expect(archiveInto(database, folder)).rejects.toThrow(
    'The row “installation” of the table “meta” is not 16 hexadecimal digits',
  );
  expect(readdirSync(folder)).toEqual([]);
  expect((await seqsOf(database)).length).toBe(10);
  await database.transaction((tx) => dropMeta(tx, 'installation'));
  expect((await archiveInto(database, folder)).checkpoint?.last).toBe(8);
});

test('nothing is deleted when the checkpoint is not in the database after its commit', async () => {
  const database = await freshDatabase('sqlite');
  await oldTrail(database);
  const lost = "when new.kind = 'trail-archived' begin delete from audit_event where seq = 11; end";
  await tamper(database, `create trigger lost after insert on audit_event ${lost}`);
  await expect(archiveInto(database, segmentsFolder())).rejects.toThrow(
    'The signed checkpoint could not be read again, so nothing was deleted',
  );
  expect((await seqsOf(database)).length).toBe(10);
});
