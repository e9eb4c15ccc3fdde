import { expect, test } from 'vitest';
import {
  acceptanceRequests,
  acceptedGaps,
  recordAcceptance,
  recordAcceptanceRequest,
} from '../../src/log/old/accepted-gaps.ts';
import { appendEvent, listEvents } from '../../src/log/old/append.ts';
import { gapId, gapName, measureGap } from '../../src/log/old/gap.ts';
import { GENESIS } from '../../src/storage/old/001-initial.ts';
import { gapOf, OPERATORS } from '../storage/accept-gap.ts';
import { freshDatabase } from '../storage/engines.ts';
import { NOON } from '../storage/example-change.ts';
import { modify, tamper } from '../storage/tamper.ts';

const KEY = Buffer.alloc(32, 7);
const [ANA, FINN] = OPERATORS;

async function trailOf(count: number, ...statements: string[]) {
  const database = await freshDatabase('sqlite');
  await database.transaction(async (tx) => {
    for (let n = 0; n < count; n += 1) {
      await appendEvent(tx, KEY, { kind: 'refused', at: NOON, body: { by: 'UANA' } });
    }
  });
  await tamper(database, ...statements);
  return database;
}

const START = { seq: 0, hash: GENESIS, keyId: 'none' };

test.for<[string, string[], Buffer | null]>([
  ['the next event is valid', [], KEY],
  ['no signed event follows', [modify(1), modify(2), modify(3)], KEY],
  ['there is no key', [modify(1)], null],
])('there is no gap where %s', async ([, statements, key]) => {
  const { db } = await trailOf(3, ...statements);
  expect(await measureGap(db, key, START)).toBeNull();
});

test('a gap is measured over more than a thousand events', async () => {
  const { db } = await trailOf(1_002, "update audit_event set body = 'x' where seq < 1002");
  const pauses: number[] = [];
  const found = await measureGap(db, KEY, START, async () => void pauses.push(1));
  expect(found).toMatchObject({ gap: { first: 1, next: 1_002 }, problem: 'unreadable' });
  expect(pauses).toHaveLength(1);
  expect(await measureGap(db, KEY, START)).toEqual(found);
});

test('the name of a gap is the first 8 characters of its id', async () => {
  const { gap } = await gapOf(await trailOf(3, modify(2)), KEY);
  expect(gapName(gap)).toBe(gapId(gap).slice(0, 8));
  expect(gapName(gap)).toHaveLength(8);
});

test('each acceptance is recorded with the event, the operator and the problem', async () => {
  const database = await trailOf(3, modify(2));
  const { db, transaction } = database;
  const press = { gap: (await gapOf(database, KEY)).gap, problem: 'Event 2.', at: NOON };
  await transaction(async (tx) => {
    await recordAcceptanceRequest(tx, KEY, { ...press, by: ANA });
    await recordAcceptance(tx, KEY, { ...press, by: FINN, first: ANA });
  });
  const events = await listEvents(db, { afterSeq: 3, limit: 9 });
  const did = (place: string) => `accepted the gap at event 2, as the ${place} operator`;
  expect(events).toMatchObject([
    { body: { by: ANA, did: did('first'), problem: 'Event 2.' } },
    { body: { by: FINN, did: did('second'), operators: [ANA, FINN], problem: 'Event 2.' } },
  ]);
});

test('without a key no acceptance counts', async () => {
  const database = await trailOf(3, modify(2));
  const { db, transaction } = database;
  const { gap } = await gapOf(database, KEY);
  const press = { gap, problem: 'Event 2.', at: NOON, by: FINN };
  const { db: other, transaction: write } = await freshDatabase('sqlite');
  await write(async (tx) => {
    await recordAcceptanceRequest(tx, null, press);
    await recordAcceptance(tx, null, { ...press, first: ANA });
  });
  expect(await acceptanceRequests(other, null, gap)).toEqual([]);
  expect(await acceptedGaps(other, null)).toEqual([]);
  await transaction((tx) => recordAcceptance(tx, KEY, { ...press, first: ANA }));
  expect(await acceptedGaps(db, KEY)).toMatchObject([{ gap, operators: [ANA, FINN], seq: 4 }]);
});
