import { expect, test } from 'vitest';
import type { JsonObject } from '../../src/base/text.ts';
import type { ChangeId } from '../../src/domain/change.ts';
import { type AuditEvent, appendEvent } from '../../src/log/old/append.ts';
import { linkAfter } from '../../src/log/old/chain.ts';
import { currentKey, readKeyRing } from '../../src/log/old/key-ring.ts';
import { createVerifiedEvents } from '../../src/log/old/verified-events.ts';
import type { Database } from '../../src/storage/old/database.ts';
import type { AuditEventTable } from '../../src/storage/old/schema.ts';
import { freshDatabase } from '../storage/engines.ts';
import { ana, NOON } from '../storage/example-change.ts';
import { remove, tamper } from '../storage/tamper.ts';

const OLD = '6f'.repeat(32);
const NEW = '7a'.repeat(32);
const oldKeys = readKeyRing(OLD, []);
const keys = readKeyRing(NEW, [OLD]);
const FIRST = 'CHANGE' as ChangeId;
const OTHER = 'OTHER7' as ChangeId;
const NONE = { isMissing: false, verifyFrom: null };

type Options = Partial<Omit<AuditEvent, 'body'>> & { readonly body?: JsonObject };

function event(kind: string, options: Options = {}): AuditEvent {
  return { kind, at: NOON, ...options, body: { by: ana, ...options.body } };
}

const ofChange = (version: number, changeId = FIRST) => event('approved', { changeId, version });
const ofSchedule = (kind: string, changeId = FIRST) => event(kind, { changeId });

/** A trail, and the memory of a process that verified the events with these numbers, in this order. */
async function memoryOf(
  events: readonly AuditEvent[],
  { signed = keys, verified = events.map((_, index) => index + 1) } = {},
) {
  const database = await freshDatabase('sqlite');
  await database.transaction(async (tx) => {
    for (const each of events) await appendEvent(tx, signed, each);
  });
  const rows = await rowsOf(database);
  const memory = createVerifiedEvents(keys);
  for (const seq of verified) memory.add(rowNumber(rows, seq));
  return { database, memory, rows };
}

const rowsOf = ({ db }: Database) =>
  db.selectFrom('audit_event').selectAll().orderBy('seq').execute();

function rowNumber(rows: readonly AuditEventTable[], seq: number): AuditEventTable {
  const row = rows.find((each) => each.seq === seq);
  if (!row) throw new Error(`There is no event ${seq}`);
  return row;
}

test('a change whose verified events are all stored lacks none', async () => {
  const { database, memory } = await memoryOf([ofChange(1), ofChange(2)]);
  expect(await memory.compareChange(database.db, FIRST)).toEqual(NONE);
});

test('the last verified event of a change must be stored', async () => {
  const { database, memory } = await memoryOf([ofChange(1), ofChange(2)]);
  await tamper(database, remove(2));
  expect(await memory.compareChange(database.db, FIRST)).toEqual({ ...NONE, isMissing: true });
});

test('a change of which every event is gone lacks its events', async () => {
  const { database, memory } = await memoryOf([ofChange(1)]);
  await tamper(database, remove(1));
  expect(await memory.compareChange(database.db, FIRST)).toEqual({ ...NONE, isMissing: true });
});

test.for([
  ['hash', `update audit_event set hash = 'other' where seq = 2`],
  ['version', 'update audit_event set version = 3 where seq = 2'],
  ['change', `update audit_event set change_id = 'OTHER7' where seq = 2`],
] as const)('a verified event with another %s is missing', async ([, statement]) => {
  const { database, memory } = await memoryOf([ofChange(1), ofChange(2)]);
  await tamper(database, statement);
  expect(await memory.compareChange(database.db, FIRST)).toEqual({ ...NONE, isMissing: true });
});

test('an event that is verified late does not replace a later one', async () => {
  const events = [ofChange(1), ofChange(2)];
  const { database, memory } = await memoryOf(events, { verified: [2, 1] });
  await tamper(database, remove(2));
  expect(await memory.compareChange(database.db, FIRST)).toEqual({ ...NONE, isMissing: true });
});

test('events without a version do not count as the last event of a change', async () => {
  const { database, memory } = await memoryOf([ofChange(1), event('noted', { changeId: FIRST })]);
  await tamper(database, remove(2));
  expect(await memory.compareChange(database.db, FIRST)).toEqual(NONE);
});

test('a change that this process has not seen is verified from its first event', async () => {
  const { database, memory } = await memoryOf([ofChange(1), ofChange(2)], { verified: [] });
  expect(await memory.compareChange(database.db, FIRST)).toEqual({ ...NONE, verifyFrom: 1 });
  expect(await memory.compareChange(database.db, OTHER)).toEqual(NONE);
});

test('a change that began under an earlier key is verified from its first event', async () => {
  const { database, memory } = await memoryOf([ofChange(1)], { signed: oldKeys });
  expect(await memory.compareChange(database.db, FIRST)).toEqual({ ...NONE, verifyFrom: 1 });
});

test('each event of a schedule must be stored, not only its last', async () => {
  const run = ofSchedule('schedule-run');
  const { database, memory } = await memoryOf([
    ofSchedule('schedule-started'),
    ofSchedule('schedule-paused'),
    run,
    event('noted'),
  ]);
  expect((await memory.compareChange(database.db, FIRST)).isMissing).toBe(false);
  await tamper(database, remove(2));
  expect((await memory.compareChange(database.db, FIRST)).isMissing).toBe(true);
});

test('an event of a schedule with another hash is missing', async () => {
  const { database, memory } = await memoryOf([ofSchedule('schedule-paused')]);
  await tamper(database, `update audit_event set hash = 'other' where seq = 1`);
  expect((await memory.compareChange(database.db, FIRST)).isMissing).toBe(true);
});

test('other events of a change with a schedule may be gone', async () => {
  const noted = event('noted', { changeId: FIRST });
  const { database, memory } = await memoryOf([ofSchedule('schedule-paused'), noted]);
  await tamper(database, remove(2));
  expect((await memory.compareChange(database.db, FIRST)).isMissing).toBe(false);
});

test('each event of a freeze must be stored', async () => {
  const events = [event('freeze-created'), event('noted'), event('freeze-lifted')];
  const { database, memory } = await memoryOf(events);
  expect(await memory.compareFreezes(database.db)).toEqual(NONE);
  await tamper(database, remove(2));
  expect(await memory.compareFreezes(database.db)).toEqual(NONE);
  await tamper(database, remove(3));
  expect(await memory.compareFreezes(database.db)).toEqual({ ...NONE, isMissing: true });
});

test('a new freeze of the current key counts at once, and must be stored from then on', async () => {
  const { database, memory } = await memoryOf([event('freeze-created')], { verified: [] });
  expect(await memory.compareFreezes(database.db)).toEqual(NONE);
  await tamper(database, remove(1));
  expect(await memory.compareFreezes(database.db)).toEqual({ ...NONE, isMissing: true });
});

test('a freeze of an earlier key counts only within a verified chain', async () => {
  const { database, memory, rows } = await memoryOf([event('freeze-created')], {
    signed: oldKeys,
    verified: [],
  });
  const unverified = { ...NONE, verifyFrom: 1 };
  expect(await memory.compareFreezes(database.db)).toEqual(unverified);
  expect(await memory.compareFreezes(database.db)).toEqual(unverified);
  memory.add(rowNumber(rows, 1));
  expect(await memory.compareFreezes(database.db)).toEqual(NONE);
});

test('of several unverified freezes, the chain is verified from the first one', async () => {
  const { database, memory } = await memoryOf([], { verified: [] });
  for (const [seq, signed] of [keys, oldKeys, oldKeys].entries()) {
    const head = { seq, hash: String(seq) };
    const row = linkAfter(head, currentKey(signed), event('freeze-created'));
    await database.transaction((tx) => tx.insertInto('audit_event').values(row).execute());
  }
  expect(await memory.compareFreezes(database.db)).toEqual({ ...NONE, verifyFrom: 2 });
});

test('a revert is planned for the change that a verified event names', async () => {
  const named = (kind: string, changeId: ChangeId, parent: string | number) =>
    event(kind, { changeId, version: 1, body: { parent } });
  const { memory } = await memoryOf([
    named('planned-return', 'REVERT' as ChangeId, FIRST),
    named('approved', 'PLAIN7' as ChangeId, OTHER),
    named('planned-return', 'NUMBER' as ChangeId, 7),
  ]);
  expect(memory.isRevertPlanned(FIRST)).toBe(true);
  expect(memory.isRevertPlanned(OTHER)).toBe(false);
  expect(memory.isRevertPlanned(7 as unknown as ChangeId)).toBe(false);
});

test('the oldest of more than 100,000 changes is verified again', async () => {
  const { database, memory, rows } = await memoryOf([ofChange(1), ofChange(1, OTHER)]);
  const row = rowNumber(rows, 2);
  const add = (from: number, to: number) => {
    for (let count = from; count <= to; count += 1) {
      memory.add({ ...row, seq: count, change_id: `X${count}` as ChangeId });
    }
  };
  // The first change is used again, so that the second one is the oldest.
  memory.add({ ...rowNumber(rows, 1), seq: 3 });
  add(4, 100_001);
  expect((await memory.compareChange(database.db, OTHER)).verifyFrom).toBe(null);
  add(100_002, 100_002);
  expect((await memory.compareChange(database.db, OTHER)).verifyFrom).toBe(2);
  expect((await memory.compareChange(database.db, FIRST)).verifyFrom).toBe(null);
});
