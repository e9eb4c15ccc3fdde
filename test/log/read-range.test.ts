import { expect, test } from 'vitest';
import { appendEvent } from '../../src/log/old/append.ts';
import { eventSubjects, eventsBefore } from '../../src/log/old/read-events.ts';
import { eventRowsWithin, firstSeqSince } from '../../src/log/old/read-range.ts';
import type { Database } from '../../src/storage/old/database.ts';
import { freshDatabase } from '../storage/engines.ts';
import { aChange, ana, elsewhere, minutes, newId, stored } from '../storage/example-change.ts';

/** A trail with an event at each of these minutes. */
async function trailAt(...times: readonly number[]): Promise<Database> {
  const database = await freshDatabase('sqlite');
  await database.transaction(async (tx) => {
    for (const at of times) {
      await appendEvent(tx, null, { kind: 'refused', at: minutes(at), body: {} });
    }
  });
  return database;
}

/** The numbers and times of the events between two minutes. */
async function within(database: Database, since: number, until: number, batch?: number) {
  const range = { since: minutes(since), until: minutes(until) };
  const found: [number, Date][] = [];
  for await (const { seq, at } of eventRowsWithin(database.db, range, batch)) found.push([seq, at]);
  return found;
}

test('a time range has the events from its begin to just before its end', async () => {
  const { db, ...database } = await trailAt(0, 10, 20, 30, 40);
  const own = { ...database, db };
  expect(await within(own, 10, 30)).toEqual([
    [2, minutes(10)],
    [3, minutes(20)],
  ]);
  expect(await within(own, -60, 0)).toEqual([]);
  expect((await within(own, 0, 41)).map(([seq]) => seq)).toEqual([1, 2, 3, 4, 5]);
  expect(await within(own, 41, 90)).toEqual([]);
  expect(await within(await trailAt(), 0, 90)).toEqual([]);
});

test.for([1, 2, 5, 6])('a time range is read in batches of %i', async (batch) => {
  const database = await trailAt(0, 10, 20, 30, 40);
  expect((await within(database, 10, 90, batch)).map(([seq]) => seq)).toEqual([2, 3, 4, 5]);
});

test('a replica whose clock differs by less than an hour loses no event', async () => {
  // The third event is early by 59 minutes, and the fourth one late.
  const database = await trailAt(0, 200, 141, 259, 201, 400);
  expect((await within(database, 200, 202)).map(([seq]) => seq)).toEqual([2, 5]);
  expect((await within(database, 141, 142)).map(([seq]) => seq)).toEqual([3]);
  expect((await within(database, 259, 260)).map(([seq]) => seq)).toEqual([4]);
});

test('reading ends an hour after the range', async () => {
  // The last event is in the range by its time, but too late to be expected.
  const reached = await trailAt(0, 60 + 59, 1);
  expect((await within(reached, 0, 60)).map(([seq]) => seq)).toEqual([1, 3]);
  const ended = await trailAt(0, 60 + 60, 1);
  expect((await within(ended, 0, 60)).map(([seq]) => seq)).toEqual([1]);
});

test('the first event since a time is found in a trail of any length', async () => {
  for (const count of [0, 1, 2, 3, 8, 9]) {
    const database = await trailAt(...Array.from({ length: count }, (_, n) => n * 10));
    const found: number[] = [];
    for (let n = 0; n <= count; n += 1)
      found.push(await firstSeqSince(database.db, minutes(n * 10)));
    expect(found).toEqual(Array.from({ length: count + 1 }, (_, n) => n + 1));
    expect(await firstSeqSince(database.db, minutes(1))).toBe(count === 0 ? 1 : 2);
  }
});

test('earlier events are read newest first', async () => {
  const { db } = await trailAt(0, 10, 20, 30);
  const seqs = async (before: number, limit: number) =>
    (await eventsBefore(db, { before, limit })).map(({ seq }) => seq);
  expect(await seqs(4, 2)).toEqual([3, 2]);
  expect(await seqs(100, 9)).toEqual([4, 3, 2, 1]);
  expect(await seqs(1, 9)).toEqual([]);
});

test('the subject of an event is the command and the target of its change', async () => {
  const { db, ...database } = await trailAt();
  const [confirmed, draft, other] = [aChange(), elsewhere({ state: 'draft' }), elsewhere()];
  await stored({ ...database, db }, confirmed, draft, other);
  const subjects = await eventSubjects(db, [confirmed.id, draft.id, newId()]);
  const subject = { command: 'service scale', target: 'staging' };
  expect(subjects).toEqual(
    new Map([
      [confirmed.id, { ...subject, owner: null }],
      // Only its requester may see a draft.
      [draft.id, { ...subject, owner: ana }],
    ]),
  );
  expect(await eventSubjects(db, [])).toEqual(new Map());
});
