import { expect, test } from 'vitest';
import { inspectDatabase } from '../../src/ops/inspect.ts';
import { openDatabase } from '../../src/storage/old/database.ts';
import { readMeta } from '../../src/storage/old/meta.ts';
import { SCHEMA_VERSION } from '../../src/storage/old/migrate.ts';
import { openReader } from '../../src/storage/old/reader.ts';
import { ENGINES, emptyUrl, openForTest } from './engines.ts';
import { migrateAsNewer } from './newer-schema.ts';

const NEXT = SCHEMA_VERSION + 1;
test.for(ENGINES)('an older compatible release starts on %s', async (engine) => {
  const url = await emptyUrl(engine);
  await migrateAsNewer(url, SCHEMA_VERSION);

  const reported: number[] = [];
  const older = await openForTest(url, { onNewerSchema: (schema) => reported.push(schema) });
  expect(reported).toEqual([NEXT]);
  await older.check();
  expect(await readMeta(older.db, 'schema-version')).toBe(String(NEXT));
  expect(await readMeta(older.db, 'oldest-compatible-schema')).toBe(String(SCHEMA_VERSION));

  const reader = await openReader(url);
  await reader.close();
  const inspection = await inspectDatabase(url, null);
  expect(inspection).toMatchObject({ schema: NEXT, isReadable: true, instances: [] });
});

test.for(ENGINES)(
  'a release below the minimum is refused with a sentence on %s',
  async (engine) => {
    const url = await emptyUrl(engine);
    await migrateAsNewer(url, NEXT);

    const sentence =
      `This database has schema version ${NEXT}, which needs a Signalbox with version ${NEXT} or ` +
      `later. This Signalbox has ${SCHEMA_VERSION}.`;
    await expect(openForTest(url)).rejects.toThrow(sentence);
    await expect(openReader(url)).rejects.toThrow(sentence);
    expect(await inspectDatabase(url, null)).toMatchObject({ schema: NEXT, isReadable: false });
  },
);

test.for(ENGINES)(
  'a release starts again on its own schema without a report on %s',
  async (engine) => {
    const url = await emptyUrl(engine);
    const reported: number[] = [];
    const first = await openDatabase(url, { onNewerSchema: (schema) => reported.push(schema) });
    await first.close();
    await openForTest(url, { onNewerSchema: (schema) => reported.push(schema) });
    expect(reported).toEqual([]);
  },
);
