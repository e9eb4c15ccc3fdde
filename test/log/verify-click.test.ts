import { sql } from 'kysely';
import { expect, test } from 'vitest';
import { appendEvent } from '../../src/log/old/append.ts';
import * as inbox from '../../src/log/old/inbox.ts';
import type { AuditKey } from '../../src/log/old/key-ring.ts';
import { clickKeys } from '../../src/log/old/verify-click.ts';
import type { Database } from '../../src/storage/old/database.ts';
import { adoptKey } from '../../src/workflow/old/key-change.ts';
import { ENGINES, freshDatabase } from '../storage/engines.ts';
import { minutes, NOON } from '../storage/example-change.ts';
import { createTestContext } from '../workflow/context.ts';

const [OLD, NEW] = [7, 8].map((byte) => Buffer.alloc(32, byte)) as [Buffer, Buffer];
const BODY = { verb: 'approve', by: 'UBEN', change: 'K3M9QD' };

async function store(database: Database, keys: AuditKey, key = 'a', at = NOON): Promise<void> {
  await database.transaction(async (tx) => {
    const click = { key, kind: 'click', body: BODY, at };
    await inbox.storeClick(tx, await clickKeys(tx, keys, at), click);
  });
}

/** Claims the due clicks, and returns the key and the problem of each. */
async function claimed(database: Database, keys: AuditKey, at = 0) {
  // Without a lease, so that each call claims all of them.
  const batch = { owner: 'one', now: minutes(at), leaseMs: 0, limit: 10 };
  const clicks = await database.transaction((tx) => inbox.claimDueClicks(tx, keys, batch));
  return clicks.map(({ key, problem }) => [key, problem]);
}

function attack(database: Database, statement: string): Promise<void> {
  return database.transaction(async (tx) => void (await sql.raw(statement).execute(tx)));
}

test.for(ENGINES)(
  'a stored click is verified and returned as it was stored on %s',
  async (engine) => {
    const database = await freshDatabase(engine);
    await store(database, OLD);
    const batch = { owner: 'one', now: NOON, leaseMs: 1, limit: 10 };
    const [click] = await database.transaction((tx) => inbox.claimDueClicks(tx, OLD, batch));
    expect(click).toMatchObject({ key: 'a', kind: 'click', body: BODY, at: NOON, problem: null });
  },
);

const MODIFIED: readonly (readonly [string, string])[] = [
  ['another body', `update inbox set body = '{"verb":"approve","by":"UEVE","change":"K3M9QD"}'`],
  ['another kind', `update inbox set kind = 'incident'`],
  ['another key', `update inbox set dedup_key = 'b'`],
  ['another time', `update inbox set at = '2026-11-20T12:30:00.000Z'`],
  ['an unreadable body', `update inbox set body = '{half'`],
  ['no body', `update inbox set body = null`],
  ['an empty signature', `update inbox set signature = ''`],
  ['a signature of another length', `update inbox set signature = signature || '00'`],
];
test.for(ENGINES.flatMap((engine) => MODIFIED.map((row) => [...row, engine] as const)))(
  'a click with %s is not verified (%s) on %s',
  async ([, statement, engine]) => {
    const database = await freshDatabase(engine);
    await store(database, OLD);
    await attack(database, statement);
    expect((await claimed(database, OLD)).map(([, problem]) => problem)).toEqual([
      'signature-differs',
    ]);
  },
);

test.for(ENGINES)('a click without a signature is claimed as unsigned on %s', async (engine) => {
  const database = await freshDatabase(engine);
  await store(database, null);
  expect(await claimed(database, OLD)).toEqual([['a', 'unsigned']]);
  expect(await claimed(database, null)).toEqual([['a', null]]);
});

test.for(ENGINES)('one unreadable click does not stop the others on %s', async (engine) => {
  const database = await freshDatabase(engine);
  for (const key of ['a', 'b', 'c', 'd']) await store(database, null, key);
  await attack(database, `update inbox set body = '{half' where dedup_key = 'a'`);
  await attack(database, `update inbox set body = '[]' where dedup_key = 'b'`);
  await attack(database, `update inbox set at = 'no time' where dedup_key = 'c'`);
  expect(new Map((await claimed(database, null)) as [string, string | null][])).toEqual(
    new Map([
      ['a', 'unreadable'],
      ['b', 'unreadable'],
      ['c', 'unreadable'],
      ['d', null],
    ]),
  );
});

test.for(ENGINES)('a click is handled for an hour after it was received on %s', async (engine) => {
  const database = await freshDatabase(engine);
  await store(database, OLD);
  expect(await claimed(database, OLD, 60)).toEqual([['a', null]]);
  expect(await claimed(database, OLD, 60.1)).toEqual([['a', 'expired']]);
});

test.for(ENGINES)(
  'a click of the previous key counts for 5 minutes after a rotation on %s',
  async (engine) => {
    const { context } = await createTestContext();
    const database = await freshDatabase(engine);
    const [before, after] = [
      { current: OLD, previous: [NEW] },
      { current: NEW, previous: [OLD] },
    ];
    await database.transaction((tx) =>
      appendEvent(tx, before, { kind: 'refused', at: NOON, body: {} }),
    );
    await store(database, before, 'old');
    expect(await claimed(database, before)).toEqual([['old', null]]);
    await adoptKey({ ...context, database, auditKey: after, now: () => minutes(1) });
    // A replica that still has the previous key as its current one signs with the new key as well.
    await store(database, before, 'of the slower replica', minutes(2));
    await store(database, after, 'new', minutes(2));

    const others = [
      ['new', null],
      ['of the slower replica', null],
    ];
    for (const [index, keys] of [before, after].entries()) {
      const at = 4 + index;
      expect(await claimed(database, keys, at)).toEqual([['old', null], ...others]);
    }
    expect((await claimed(database, NEW, 5.9))[0]).toEqual(['old', 'signature-differs']);
    for (const [index, keys] of [before, after].entries()) {
      const at = 6 + index;
      expect(await claimed(database, keys, at)).toEqual([['old', 'signature-differs'], ...others]);
    }
  },
);

test('the key of the click signature is not the key of the audit trail', async () => {
  const { createHmac } = await import('node:crypto');
  const database = await freshDatabase('sqlite');
  await store(database, OLD);
  const row = await database.db.selectFrom('inbox').selectAll().executeTakeFirstOrThrow();
  const { dedup_key, kind, body, at, signature } = row;
  const text = JSON.stringify([dedup_key, kind, body, at]);
  expect(signature).toMatch(/^[0-9a-f]{64}$/);
  expect(signature).not.toBe(createHmac('sha256', OLD).update(text).digest('hex'));
});
