import { expect, test } from 'vitest';
import {
  acceptanceRequests,
  acceptedGaps,
  recordAcceptance,
  recordAcceptanceRequest,
} from '../../src/log/old/accepted-gaps.ts';
import { appendEvent, auditHead, listEvents } from '../../src/log/old/append.ts';
import { linkAfter } from '../../src/log/old/chain.ts';
import type { MeasuredGap } from '../../src/log/old/gap.ts';
import type { AuditKey } from '../../src/log/old/key-ring.ts';
import { verifyChain } from '../../src/log/old/verify-chain.ts';
import type { Database } from '../../src/storage/old/database.ts';
import { acceptGap, gapOf, OPERATORS, presentGap } from '../storage/accept-gap.ts';
import { ENGINES, type Engine, freshDatabase } from '../storage/engines.ts';
import { NOON } from '../storage/example-change.ts';
import { modify, remove, restore, tamper } from '../storage/tamper.ts';

const KEY = Buffer.alloc(32, 7);
const LEAKED = Buffer.alloc(32, 5);
const EVENT = { kind: 'refused', at: NOON, body: { by: 'UANA' } };
const [ANA, FINN] = OPERATORS;

async function write(database: Database, count: number, key: AuditKey = KEY): Promise<void> {
  await database.transaction(async (tx) => {
    for (let n = 0; n < count; n += 1) await appendEvent(tx, key, EVENT);
  });
}

async function trailOf(count: number, engine: Engine = 'sqlite'): Promise<Database> {
  const database = await freshDatabase(engine);
  await write(database, count);
  return database;
}

const renumber = (from: number, to: number) =>
  `update audit_event set seq = ${to} where seq = ${from}`;

const KINDS: [string, string[], { first: number; next: number }, string][] = [
  ['event-missing', [remove(4)], { first: 4, next: 5 }, 'event-missing'],
  [
    'event-missing at the beginning',
    [remove(1), remove(2)],
    { first: 1, next: 3 },
    'event-missing',
  ],
  [
    'event-missing before a negative number',
    [renumber(1, -1)],
    { first: 1, next: 2 },
    'event-missing',
  ],
  [
    'link-broken',
    [renumber(4, 99), renumber(5, 4), renumber(99, 5)],
    { first: 4, next: 6 },
    'link-broken',
  ],
  [
    'unreadable',
    ["update audit_event set body = 'x' where seq = 4"],
    { first: 4, next: 5 },
    'unreadable',
  ],
  [
    'columns-changed',
    ["update audit_event set kind = 'approved' where seq = 4"],
    { first: 4, next: 5 },
    'columns-changed',
  ],
  ['body-changed', [modify(4), modify(5)], { first: 4, next: 6 }, 'body-changed'],
  [
    'body-changed by its hash',
    ["update audit_event set hash = 'x' where seq = 4"],
    { first: 4, next: 5 },
    'body-changed',
  ],
  [
    'head-differs: a cut tail, once an event follows',
    [remove(9), remove(10)],
    { first: 9, next: 11 },
    'event-missing',
  ],
  [
    'head-differs: another hash in the head, once an event follows',
    ["update audit_head set hash = 'x'"],
    { first: 11, next: 11 },
    'link-broken',
  ],
];

test.for(ENGINES.flatMap((engine) => KINDS.map((one) => [one[0], engine, one] as const)))(
  'the verification passes an accepted gap of the kind %s on %s',
  async ([, engine, [, statements, { first, next }, problem]]) => {
    const database = await trailOf(10, engine);
    await tamper(database, ...statements);
    await write(database, 1);
    expect(await verifyChain(database.db, KEY)).toEqual({ ok: false, seq: first, problem });

    const found = await acceptGap(database, KEY);
    expect(found).toMatchObject({ gap: { first, next }, problem });
    await write(database, 2);
    const accepted = [{ gap: found.gap, operators: [ANA, FINN], seq: 12 }];
    expect(await verifyChain(database.db, KEY, { batch: 3 })).toEqual({
      ok: true,
      seq: 14,
      accepted,
    });
  },
);

test('an accepted gap names the hashes of the valid events before and after it', async () => {
  const database = await trailOf(10);
  const events = await listEvents(database.db, { afterSeq: 0, limit: 10 });
  await tamper(database, modify(4));
  const found = await gapOf(database, KEY);
  expect(found.gap).toMatchObject({ previous: events[2]?.hash, following: events[4]?.hash });
});

test('no hash of the key over a modified row is recorded, because it would sign a forged event', async () => {
  const database = await trailOf(10);
  await tamper(database, modify(4));
  const [third] = await listEvents(database.db, { afterSeq: 2, limit: 1 });
  const forged = linkAfter(third ?? { seq: 0, hash: '' }, KEY, { ...EVENT, body: { by: 'UBEN' } });
  await acceptGap(database, KEY);
  const rows = await database.db.selectFrom('audit_event').selectAll().execute();
  expect(rows.find(({ seq }) => seq === 4)?.body).toBe(forged.body);
  expect(JSON.stringify(rows)).not.toContain(forged.hash);
});

const LATER: [string, string[], number, string][] = [
  [
    'modifies the accepted event again',
    ["update audit_event set body = 'x' where seq = 4"],
    4,
    'unreadable',
  ],
  ['deletes the accepted event', [remove(4)], 4, 'event-missing'],
  [
    'modifies a column of the accepted event',
    ["update audit_event set kind = 'approved' where seq = 4"],
    4,
    'columns-changed',
  ],
  ['modifies the event after the gap', [modify(5)], 4, 'body-changed'],
  ['modifies the event before the gap', [modify(3)], 3, 'body-changed'],
  ['modifies another event', [modify(8)], 8, 'body-changed'],
  [
    'modifies the event that accepts the gap',
    ["update audit_event set body = replace(body, 'UFINN', 'UGUS') where seq = 11"],
    4,
    'body-changed',
  ],
  ['deletes the event that accepts the gap', [remove(11)], 4, 'body-changed'],
];

test.for(ENGINES.flatMap((engine) => LATER.map((one) => [one[0], engine, one] as const)))(
  'after an acceptance the verification detects an attacker who %s on %s',
  async ([, engine, [, statements, seq, problem]]) => {
    const database = await trailOf(10, engine);
    await tamper(database, modify(4));
    await acceptGap(database, KEY);
    await write(database, 2);
    expect((await verifyChain(database.db, KEY)).ok).toBe(true);
    await tamper(database, ...statements);
    expect(await verifyChain(database.db, KEY)).toEqual({ ok: false, seq, problem });
  },
);

test('a second gap needs an acceptance of its own', async () => {
  const database = await trailOf(10);
  await tamper(database, modify(4), remove(8));
  await acceptGap(database, KEY);
  expect(await verifyChain(database.db, KEY)).toEqual({
    ok: false,
    seq: 8,
    problem: 'event-missing',
  });
  await acceptGap(database, KEY);
  const verified = await verifyChain(database.db, KEY);
  expect(verified).toMatchObject({ ok: true, accepted: [{ seq: 11 }, { seq: 12 }] });
});

test('a restored event needs no acceptance any more', async () => {
  const database = await trailOf(10);
  await tamper(database, modify(4));
  await acceptGap(database, KEY);
  await tamper(database, restore(4));
  expect(await verifyChain(database.db, KEY)).toEqual({ ok: true, seq: 11 });
});

test('the first of two operators accepts nothing', async () => {
  const database = await trailOf(10);
  await tamper(database, modify(4));
  const found = await gapOf(database, KEY);
  const press = { gap: found.gap, problem: 'x', by: ANA, at: NOON };
  await database.transaction((tx) => recordAcceptanceRequest(tx, KEY, press));
  expect(await verifyChain(database.db, KEY)).toMatchObject({ ok: false, seq: 4 });
  expect(await acceptanceRequests(database.db, KEY, found.gap)).toEqual([ANA]);
  expect(await acceptanceRequests(database.db, KEY, { ...found.gap, rows: 'x' })).toEqual([]);
});

test('a verification of the last events passes an accepted gap that it begins in', async () => {
  const database = await trailOf(10);
  await tamper(database, "update audit_event set hash = 'x' where seq = 4");
  await acceptGap(database, KEY);
  expect(await verifyChain(database.db, KEY, { last: 7 })).toMatchObject({ ok: true, seq: 11 });
});

test('an anchor inside an accepted gap differs, one after it does not', async () => {
  const database = await trailOf(10);
  const [fourth, fifth] = await listEvents(database.db, { afterSeq: 3, limit: 2 });
  await tamper(database, remove(4));
  await acceptGap(database, KEY);
  const verify = (anchor = fourth) =>
    verifyChain(database.db, KEY, anchor ? { anchor: { seq: anchor.seq, hash: anchor.hash } } : {});
  expect(await verify(fourth)).toEqual({ ok: false, seq: 4, problem: 'anchor-differs' });
  expect(await verify(fifth)).toMatchObject({ ok: true });
});

const forgedWith = (key: Buffer) => async (database: Database, gap: MeasuredGap['gap']) => {
  const body = { by: FINN, operators: [ANA, FINN], gap };
  const event = { kind: 'trail-accepted', at: NOON, body };
  const row = linkAfter(await auditHead(database.db), key, event);
  await database.db.insertInto('audit_event').values(row).execute();
  await tamper(database, `update audit_head set seq = ${row.seq}, hash = '${row.hash}'`);
};

/** What an attacker with write access to the database can write, without the key. */
const FORGERIES: [string, (database: Database, gap: MeasuredGap['gap']) => Promise<void>][] = [
  [
    'an unsigned acceptance event',
    async (database, gap) => {
      const press = { gap, problem: 'x', by: FINN, at: NOON, first: ANA };
      await database.transaction((tx) => recordAcceptance(tx, null, press));
    },
  ],
  ['an acceptance event that another key signed', forgedWith(Buffer.alloc(32, 9))],
  ['an acceptance event that a leaked previous key signed', forgedWith(LEAKED)],
  [
    'a first acceptance that was renamed to the second',
    async (database, gap) => {
      const press = { gap, problem: 'x', by: ANA, at: NOON };
      await database.transaction((tx) => recordAcceptanceRequest(tx, KEY, press));
      const words = "'trail-acceptance-requested', 'trail-accepted'";
      await tamper(
        database,
        `update audit_event set kind = replace(kind, ${words}), body = replace(body, ${words}) where seq = 11`,
      );
    },
  ],
  [
    'a meta row that says so',
    (database) =>
      tamper(database, "insert into meta (key, value) values ('audit-accepted', 'all')"),
  ],
];

test.for(FORGERIES)('%s accepts nothing', async ([, forge]) => {
  const keys = { current: KEY, previous: [LEAKED] };
  const database = await trailOf(10);
  await tamper(database, modify(4));
  const found = await gapOf(database, keys);
  await forge(database, found.gap);
  expect(await acceptedGaps(database.db, keys)).toEqual([]);
  expect(await verifyChain(database.db, keys)).toMatchObject({ ok: false, seq: 4 });
});

test('an old acceptance event accepts no other gap, nor counts when it is copied', async () => {
  const database = await trailOf(10);
  await tamper(database, modify(4));
  await acceptGap(database, KEY);
  await tamper(database, restore(4), modify(6));
  expect(await verifyChain(database.db, KEY)).toMatchObject({ ok: false, seq: 6 });
  await tamper(
    database,
    `insert into audit_event (seq, kind, body, prev_hash, hash)
      select 12, kind, replace(body, '"first":4', '"first":6'), prev_hash, hash || 'x'
      from audit_event where seq = 11`,
  );
  expect(await verifyChain(database.db, KEY)).toMatchObject({ ok: false, seq: 6 });
});

test('without a key no gap can be accepted', async () => {
  const database = await freshDatabase('sqlite');
  await write(database, 10, null);
  await tamper(database, modify(4));
  expect(await presentGap(database, null)).toBeNull();
});

test('a gap before the key was set reaches to the first signed event', async () => {
  const database = await freshDatabase('sqlite');
  await write(database, 5, null);
  await write(database, 5);
  await tamper(database, modify(3));
  expect(await acceptGap(database, KEY)).toMatchObject({ gap: { first: 3, next: 6 } });
  expect(await verifyChain(database.db, KEY)).toMatchObject({ ok: true, seq: 11 });
});
