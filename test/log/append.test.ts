import { createHash, createHmac } from 'node:crypto';
import { sql } from 'kysely';
import { expect, test } from 'vitest';
import {
  appendEvent,
  auditHead,
  eventsOf,
  type Head,
  listEvents,
} from '../../src/log/old/append.ts';
import { linkAfter } from '../../src/log/old/chain.ts';
import { verifyChain } from '../../src/log/old/verify-chain.ts';
import type { Database } from '../../src/storage/old/database.ts';
import { ENGINES, type Engine, freshDatabase } from '../storage/engines.ts';
import { ana, minutes, NOON, newId } from '../storage/example-change.ts';

const KEY = Buffer.alloc(32, 7);
const EVENT = { kind: 'refused', at: NOON, body: { by: ana, text: '<!channel> "x"\n' } };

async function write(database: Database, count: number, key: Buffer | null = KEY): Promise<void> {
  await database.transaction(async (tx) => {
    for (let n = 0; n < count; n += 1) await appendEvent(tx, key, EVENT);
  });
}

test.for(ENGINES)('events are read as they were written on %s', async (engine) => {
  const database = await freshDatabase(engine);
  const changeId = newId();
  const move = { kind: 'approved', changeId, version: 2, from: 'pending', to: 'approved' } as const;
  const at = minutes(1);
  const body = { by: ana, said: 'ok' };
  await write(database, 2);
  const end = await database.transaction((tx) => appendEvent(tx, KEY, { ...move, at, body }));

  expect(await auditHead(database.db)).toEqual(end);
  const [event] = await eventsOf(database.db, changeId);
  expect(event).toMatchObject({ ...move, ...end, at, body, seq: 3 });
  const page = await listEvents(database.db, { afterSeq: 1, limit: 2 });
  expect(page.map(({ seq }) => seq)).toEqual([2, 3]);
  expect(page[1]).toEqual(event);
  expect(event?.prevHash).toBe(page[0]?.hash);
});

test.for(ENGINES)('eight writers at once leave no gap and no fork on %s', async (engine) => {
  const database = await freshDatabase(engine);
  const writers = Array.from({ length: 8 }, async () => {
    for (let n = 0; n < 10; n += 1) await write(database, 1);
  });
  await Promise.all(writers);

  const all = await listEvents(database.db, { afterSeq: 0, limit: 1_000 });
  expect(all.map(({ seq }) => seq)).toEqual(Array.from({ length: 80 }, (_, n) => n + 1));
  expect(await verifyChain(database.db, KEY)).toEqual({ ok: true, seq: 80 });
});

test.for(ENGINES)('a transaction that fails leaves no gap on %s', async (engine) => {
  const database = await freshDatabase(engine);
  await write(database, 1);
  const failing = database.transaction(async (tx) => {
    await appendEvent(tx, KEY, EVENT);
    throw new Error('no');
  });
  await expect(failing).rejects.toThrow('no');
  await write(database, 1);
  expect(await verifyChain(database.db, KEY)).toEqual({ ok: true, seq: 2 });
});

test.for(ENGINES)('each version of a change has one event on %s', async (engine) => {
  const database = await freshDatabase(engine);
  const event = { ...EVENT, changeId: newId(), version: 1 };
  const refusal = { ...EVENT, changeId: event.changeId };
  const append = (what: typeof refusal) => database.transaction((tx) => appendEvent(tx, KEY, what));
  await append(event);
  await append(refusal);
  await append(refusal);
  await expect(append(event)).rejects.toThrow(/unique/i);
});

test.for(ENGINES)('an event can be neither modified nor deleted on %s', async (engine) => {
  const database = await freshDatabase(engine);
  await write(database, 2);
  const statements = [
    "update audit_event set body = '{}'",
    'delete from audit_event where seq = 2',
    ...(engine === 'postgres' ? ['truncate audit_event'] : []),
  ];
  for (const statement of statements) {
    const harm = database.transaction((tx) => sql.raw(statement).execute(tx));
    await expect(harm).rejects.toThrow('audit events are only ever added');
  }
  expect(await verifyChain(database.db, KEY)).toEqual({ ok: true, seq: 2 });
});

test.for(ENGINES)('the chain is read in batches on %s', async (engine) => {
  const database = await freshDatabase(engine);
  await write(database, 25);
  const seen: number[] = [];
  const onProgress = (seq: number) => void seen.push(seq);
  const verified = await verifyChain(database.db, KEY, { batch: 10, onProgress });
  expect(verified).toEqual({ ok: true, seq: 25 });
  expect(seen).toEqual([10, 20, 25]);
  expect(await verifyChain((await freshDatabase(engine)).db, KEY)).toEqual({ ok: true, seq: 0 });
});

/** An attacker who owns the database, so that they can drop triggers, but has no key. */
async function tamper(database: Database, engine: Engine, statements: string[]): Promise<void> {
  const disarm =
    engine === 'postgres'
      ? ['drop trigger audit_event_only_added on audit_event']
      : ['drop trigger audit_event_no_update', 'drop trigger audit_event_no_delete'];
  await database.transaction(async (tx) => {
    for (const statement of [...disarm, ...statements]) await sql.raw(statement).execute(tx);
  });
}

const copyAs = (seq: number, hash: string) => `insert into audit_event
  (seq, kind, body, prev_hash, hash)
  select ${seq}, kind, body, prev_hash, '${hash}' from audit_event where seq = 5`;
const renumber = (from: number, to: number) => `update audit_event set seq = ${to}
  where seq = ${from}`;

const TAMPERINGS: [string, string[], number, string][] = [
  [
    'modifies a body',
    ["update audit_event set body = replace(body, 'UANA', 'UBEN') where seq = 4"],
    4,
    'body-changed',
  ],
  [
    'modifies a column',
    ["update audit_event set kind = 'approved' where seq = 4"],
    4,
    'columns-changed',
  ],
  ['breaks a body', ["update audit_event set body = 'x' where seq = 4"], 4, 'unreadable'],
  [
    'modifies a hash',
    [`update audit_event set hash = '${'1'.repeat(64)}' where seq = 4`],
    4,
    'body-changed',
  ],
  ['deletes an event', ['delete from audit_event where seq = 4'], 4, 'event-missing'],
  ['deletes the first event', ['delete from audit_event where seq = 1'], 1, 'event-missing'],
  [
    'deletes an event and closes the gap',
    ['delete from audit_event where seq = 9', renumber(10, 9)],
    9,
    'link-broken',
  ],
  ['appends an event', [copyAs(11, 'x')], 11, 'link-broken'],
  ['inserts an event before the first', [copyAs(-1, 'x')], 1, 'event-missing'],
  ['swaps two events', [renumber(4, 99), renumber(5, 4), renumber(99, 5)], 4, 'link-broken'],
  ['cuts the tail', ['delete from audit_event where seq > 8'], 9, 'head-differs'],
  ['deletes all events', ['delete from audit_event'], 1, 'head-differs'],
  ['deletes the head', ['delete from audit_head'], 1, 'head-differs'],
  [
    'deletes the events and the head',
    ['delete from audit_event', 'delete from audit_head'],
    1,
    'head-differs',
  ],
  ['moves the head back', ['update audit_head set seq = 9'], 10, 'head-differs'],
];

test.for(ENGINES.flatMap((engine) => TAMPERINGS.map((one) => [one[0], engine, one] as const)))(
  'the verification detects an attacker who %s on %s',
  async ([, engine, [, statements, seq, problem]]) => {
    const database = await freshDatabase(engine);
    await write(database, 10);
    await tamper(database, engine, statements);
    expect(await verifyChain(database.db, KEY, { batch: 3 })).toEqual({ ok: false, seq, problem });
  },
);

test.for(ENGINES)('a trail without a head refuses events with a reason on %s', async (engine) => {
  const database = await freshDatabase(engine);
  await tamper(database, engine, ['delete from audit_head']);
  const reason =
    'The audit trail has no head: the row of audit_head was deleted. ' +
    'Keep this database for the investigation, and restore a backup to a new one.';
  await expect(auditHead(database.db)).rejects.toThrow(reason);
  await expect(write(database, 1)).rejects.toThrow(reason);
});

test.for(ENGINES)(
  'an event before the first is detected in an empty chain on %s',
  async (engine) => {
    const database = await freshDatabase(engine);
    await database.transaction((tx) =>
      tx
        .insertInto('audit_event')
        .values({ ...linkAfter(FORGED, null, EVENT), seq: -1 })
        .execute(),
    );
    const verified = await verifyChain(database.db, KEY);
    expect(verified).toEqual({ ok: false, seq: 1, problem: 'head-differs' });
  },
);

const FORGED = { seq: 0, hash: 'x' };

test.for(ENGINES)(
  'a tail that was cut with its head is detected by the anchor on %s',
  async (engine) => {
    const database = await freshDatabase(engine);
    await write(database, 8);
    const early = await auditHead(database.db);
    await write(database, 2);
    const anchor = await auditHead(database.db);
    await tamper(database, engine, [
      'delete from audit_event where seq > 8',
      `update audit_head set seq = 8, hash = '${early.hash}'`,
    ]);

    expect(await verifyChain(database.db, KEY)).toEqual({ ok: true, seq: 8 });
    expect(await verifyChain(database.db, KEY, { anchor: early })).toEqual({ ok: true, seq: 8 });
    expect(await verifyChain(database.db, KEY, { anchor })).toEqual({
      ok: false,
      seq: 10,
      problem: 'anchor-differs',
    });
  },
);

/** A consistent chain that was signed with another key, or with none. */
async function rewrite(database: Database, engine: Engine, key: Buffer | null, from: Head) {
  await tamper(database, engine, [`delete from audit_event where seq > ${from.seq}`]);
  const row = linkAfter(from, key, { ...EVENT, kind: 'approved' });
  await database.transaction(async (tx) => {
    await tx.insertInto('audit_event').values(row).execute();
    await tx.updateTable('audit_head').set({ seq: row.seq, hash: row.hash }).execute();
  });
}

test.for<[string, Buffer | null]>([
  ['another key', Buffer.alloc(32, 8)],
  ['no key', null],
])('an event that was signed with %s is detected', async ([, key]) => {
  const database = await freshDatabase('sqlite');
  await write(database, 3);
  const third = await auditHead(database.db);
  await write(database, 1);
  await rewrite(database, 'sqlite', key, third);
  expect(await verifyChain(database.db, KEY)).toEqual({ ok: false, seq: 4, problem: 'other-key' });
});

test.for<[string, (text: string) => string]>([
  ['no key', (text) => createHash('sha256').update(text).digest('hex')],
  ['a guessed key', (text) => createHmac('sha256', 'guessed').update(text).digest('hex')],
])('an event that was signed with %s under our key id is detected', async ([, hashOf]) => {
  const database = await freshDatabase('sqlite');
  await write(database, 3);
  const third = await auditHead(database.db);
  await write(database, 1);
  // Every event contains the key id, which an attacker can copy.
  const last = await sql<{ body: string }>`
    select body from audit_event where seq = 4`.execute(database.db);
  const body = (last.rows[0]?.body ?? '').replace(ana, 'UFORGER');
  const hash = hashOf(`${third.hash}\n${body}`);
  await tamper(database, 'sqlite', [
    `update audit_event set body = '${body.replaceAll("'", "''")}', hash = '${hash}' where seq = 4`,
    `update audit_head set hash = '${hash}'`,
  ]);
  expect(await verifyChain(database.db, KEY)).toEqual({
    ok: false,
    seq: 4,
    problem: 'body-changed',
  });
});

test('a chain without a key continues with a key', async () => {
  const database = await freshDatabase('sqlite');
  await write(database, 2, null);
  await write(database, 2);
  expect(await verifyChain(database.db, KEY)).toEqual({ ok: true, seq: 4 });
  const unkeyed = await verifyChain(database.db, null);
  expect(unkeyed).toEqual({ ok: false, seq: 3, problem: 'other-key' });
  const ids = (await listEvents(database.db, { afterSeq: 1, limit: 2 })).map(({ keyId }) => keyId);
  expect(ids).toEqual(['none', expect.stringMatching(/^[0-9a-f]{8}$/)]);
});
