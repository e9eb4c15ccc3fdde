import { expect, test } from 'vitest';
import { installationId, storeInstallationId } from '../../src/log/old/anchor.ts';
import { appendEvent, listEvents } from '../../src/log/old/append.ts';
import { announceRestore, recordHandledRestore } from '../../src/log/old/restore-mark.ts';
import { readMeta, writeMeta } from '../../src/storage/old/meta.ts';
import { isOtherInstallations } from '../../src/workflow/old/other-installation.ts';
import { stopRestoredChanges } from '../../src/workflow/old/restored.ts';
import { ENGINES, freshDatabase } from '../storage/engines.ts';
import { NOON } from '../storage/example-change.ts';
import { createTestContext } from './context.ts';

async function installation() {
  const { context } = await createTestContext();
  const { database } = context;
  await database.transaction((tx) => appendEvent(tx, null, { kind: 'x', at: NOON, body: {} }));
  const own = await installationId(database.db);
  return { context, database, own };
}

const anchorOf = (id: string | null, seq = 99) => ({
  seq,
  hash: 'ef'.repeat(32),
  installation: id,
});
const OTHER = '88'.repeat(8);

test.for<[string, (own: string | null) => readonly (string | null)[], boolean]>([
  ['none', () => [], false],
  ['only older ones without an installation', () => [null, null], false],
  ['own ones', (own) => [own], false],
  ['those of another installation', () => [OTHER], true],
  ['those of another installation and older ones', () => [null, OTHER], true],
  ['own ones and those of a later installation', (own) => [OTHER, own], false],
])('with %s in the channel, the start is judged', async ([, ids, refused]) => {
  const { database, own } = await installation();
  const anchors = ids(own).map((id) => anchorOf(id));
  expect(await isOtherInstallations(database.db, { ok: true, anchors })).toBe(refused);
});

test('an empty database is another installation than the one of the anchors', async () => {
  const { context } = await createTestContext();
  const posted = { ok: true, anchors: [anchorOf(OTHER)] } as const;
  expect(await isOtherInstallations(context.database.db, posted)).toBe(true);
});

test('an announced replacement may use the channel, also after the restore was handled', async () => {
  const { database } = await installation();
  const { db } = database;
  const posted = { ok: true, anchors: [anchorOf(OTHER)] } as const;
  await database.transaction((tx) => announceRestore(tx, NOON));
  expect(await isOtherInstallations(db, posted)).toBe(false);
  await database.transaction((tx) =>
    recordHandledRestore(tx, { signs: [], stored: null }, ['announced x']),
  );
  expect(await isOtherInstallations(db, posted)).toBe(false);
});

test.for<[string, (own: string | null) => string | null, readonly string[]]>([
  ['an anchor of this installation', (own) => own, ['x', 'restored']],
  ['an older anchor without an installation', () => null, ['x', 'restored']],
  ['an anchor of another installation', () => OTHER, ['x']],
])('%s with a higher number decides whether a restore is recorded', async ([, id, kinds]) => {
  const { context, database, own } = await installation();
  await stopRestoredChanges(context, { ok: true, anchors: [anchorOf(id(own))] });
  const events = await listEvents(database.db, { afterSeq: 0, limit: 10 });
  expect(events.map(({ kind }) => kind)).toEqual(kinds);
});

test.for(ENGINES)('an installation keeps its id when it is stored on %s', async (engine) => {
  const database = await freshDatabase(engine);
  expect(await database.transaction(storeInstallationId)).toBeNull();
  for (const kind of ['first', 'second']) {
    await database.transaction((tx) => appendEvent(tx, null, { kind, at: NOON, body: {} }));
  }
  const id = await installationId(database.db);
  expect(id).toMatch(/^[0-9a-f]{16}$/);
  expect(await database.transaction(storeInstallationId)).toBe(id);
  expect(await readMeta(database.db, 'installation')).toBe(id);
  // The stored id counts, also where the first event is another one.
  await database.transaction((tx) => writeMeta(tx, 'installation', OTHER));
  expect(await database.transaction(storeInstallationId)).toBe(OTHER);
});
