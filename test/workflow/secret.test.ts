import { sql } from 'kysely';
import { pino } from 'pino';
import { expect, test } from 'vitest';
import { Secret } from '../../src/base/errors.ts';
import type { Change } from '../../src/domain/change.ts';
import { appendEvent, eventsOf } from '../../src/log/old/append.ts';
import { insertChange } from '../../src/log/old/changes.ts';
import { recordHash } from '../../src/log/old/record-hash.ts';
import { unseal } from '../../src/log/old/seal.ts';
import type { WorkflowContext } from '../../src/workflow/old/ports.ts';
import {
  recordReveal,
  resealSecrets,
  storeSecret,
  unsealSecret,
} from '../../src/workflow/old/secret.ts';
import { openSecret, sealSecret } from '../../src/workflow/old/stored-secrets.ts';
import { ana, aPost, ben, minutes, NOON } from '../storage/example-change.ts';
import { createTestContext } from './context.ts';

const KEY = Buffer.alloc(32, 7);
const PASSWORD = 'Pässword 🔑';

// Release 1.0 sealed PASSWORD with KEY for the change K3M9QD.
const SEALED_BY_1_0 = 'v1.wJVjGroi1EQtP1_kv3hRZdHH7UyrN8n0CmUv63ZBzjgkHsorbPpkq6Qs';

async function contextWithKey(): Promise<WorkflowContext> {
  const { context } = await createTestContext();
  return { ...context, auditKey: KEY };
}

/** Stores a created service of this requester with its signed event, of this release or of 1.0. */
async function created(
  context: WorkflowContext,
  over: Partial<Change> = {},
  release: '1.0' | 'current' = 'current',
): Promise<Change> {
  const change = aPost({ state: 'succeeded', ...over });
  const { id: changeId, version, digest, requester } = change;
  await context.database.transaction(async (tx) => {
    await insertChange(tx, change);
    const recorded = release === 'current' ? { record: await recordHash(tx, changeId) } : {};
    const body = { by: requester, digest, ...recorded };
    const event = { kind: 'drafted', changeId, version, to: 'succeeded', at: NOON, body } as const;
    await appendEvent(tx, KEY, event);
  });
  return change;
}

function sealedFor(context: WorkflowContext, change: Change): Promise<void> {
  const { database } = context;
  return database.transaction((tx) => storeSecret(tx, context, change, new Secret(PASSWORD)));
}

type RowsWithRequester = readonly ('sealed_secret' | 'change')[];

/** Names another requester in these rows, past the code under test. */
async function changeRequester(
  { database: { db } }: WorkflowContext,
  { id }: Change,
  tables: RowsWithRequester = ['sealed_secret', 'change'],
): Promise<void> {
  for (const table of tables) {
    const key = table === 'change' ? 'id' : 'change_id';
    await sql`update ${sql.table(table)} set requester = ${ben} where ${sql.ref(key)} = ${id}`.execute(
      db,
    );
  }
}

test('the password of a created service opens for its requester', async () => {
  const context = await contextWithKey();
  const change = await created(context);
  await sealedFor(context, change);
  expect((await unsealSecret(context, change.id, ana))?.reveal()).toBe(PASSWORD);
  const kinds = (await eventsOf(context.database.db, change.id)).map(({ kind }) => kind);
  expect(kinds).toEqual(['drafted', 'unsealed']);
});

test('a password does not open for a requester who was put into the row by an UPDATE', async () => {
  const context = await contextWithKey();
  const change = await created(context);
  await sealedFor(context, change);
  await changeRequester(context, change);
  expect(await unsealSecret(context, change.id, ben)).toBeNull();
  const kinds = (await eventsOf(context.database.db, change.id)).map(({ kind }) => kind);
  expect(kinds).toEqual(['drafted']);
});

test('a sealed password that was copied to another change does not open', async () => {
  const context = await contextWithKey();
  const [own, other] = [await created(context, { requester: ben }), await created(context)];
  await sealedFor(context, other);
  const about = { requester: ana, now: NOON };
  const sealed = (await openSecret(context.database.db, other.id, about)) ?? '';
  await context.database.transaction((tx) =>
    sealSecret(tx, { changeId: own.id, sealed, requester: ben, expiresAt: minutes(60) }),
  );
  expect(await unsealSecret(context, own.id, ben)).toBeNull();
});

/** The password of K3M9QD as release 1.0 stored it. */
async function createdBefore(context: WorkflowContext): Promise<Change> {
  const change = await created(context, { id: 'K3M9QD' as Change['id'] }, '1.0');
  const row = { changeId: change.id, requester: ana, expiresAt: minutes(60) };
  await context.database.transaction((tx) => sealSecret(tx, { ...row, sealed: SEALED_BY_1_0 }));
  return change;
}

test('a password that release 1.0 sealed opens for the requester in the audit trail', async () => {
  const context = await contextWithKey();
  const { id } = await createdBefore(context);
  expect((await unsealSecret(context, id, ana))?.reveal()).toBe(PASSWORD);
});

test.for<[string, RowsWithRequester]>([
  ['the row of the password', ['sealed_secret']],
  ['every row', ['sealed_secret', 'change']],
])(
  'a password that release 1.0 sealed does not open for a requester who was put into %s',
  async ([, tables]) => {
    const context = await contextWithKey();
    const change = await createdBefore(context);
    await changeRequester(context, change, tables);
    expect(await unsealSecret(context, change.id, ben)).toBeNull();
  },
);

test('a password opens for 24 hours, and for its requester alone', async () => {
  const { context: base, clock } = await createTestContext();
  const logged: unknown[] = [];
  const log = pino({ level: 'error' }, { write: (line) => void logged.push(line) });
  const context = { ...base, auditKey: KEY, log };
  const change = await created(context);
  await sealedFor(context, change);
  expect(await unsealSecret(context, change.id, ben)).toBeNull();
  expect(await unsealSecret({ ...context, auditKey: null }, change.id, ana)).toBeNull();
  clock.now = new Date(minutes(24 * 60).getTime() - 1);
  expect((await unsealSecret(context, change.id, ana))?.reveal()).toBe(PASSWORD);
  clock.now = minutes(24 * 60);
  expect(await unsealSecret(context, change.id, ana)).toBeNull();
  expect(logged).toEqual([]);
});

test('without a key a password is not stored', async () => {
  const { context } = await createTestContext();
  const change = await created(context);
  await sealedFor(context, change);
  expect(await context.database.db.selectFrom('sealed_secret').selectAll().execute()).toEqual([]);
});

test('an attempt to open the password of another user is logged, with both ids', async () => {
  const logged: unknown[] = [];
  const write = (line: string) => {
    const { change, user, msg } = JSON.parse(line);
    logged.push({ change, user, msg });
  };
  const context = { ...(await contextWithKey()), log: pino({ level: 'error' }, { write }) };
  const change = await created(context);
  await sealedFor(context, change);
  await changeRequester(context, change);
  await unsealSecret(context, change.id, ben);
  const msg = 'password stays sealed: the seal or the audit trail names another user';
  expect(logged).toEqual([{ change: change.id, user: ben, msg }]);
});

test('a password stays stored until it was shown, and is shown once', async () => {
  const context = await contextWithKey();
  const change = await created(context);
  await sealedFor(context, change);
  await recordReveal(context, change.id, { by: ana, shown: false });
  expect((await unsealSecret(context, change.id, ana))?.reveal()).toBe(PASSWORD);
  await recordReveal(context, change.id, { by: ana, shown: true });
  const { db } = context.database;
  expect(await eventsOf(db, change.id)).toHaveLength(4);
  // The second of two modals that were opened at once.
  await recordReveal(context, change.id, { by: ana, shown: true });
  expect(await unsealSecret(context, change.id, ana)).toBeNull();
  const events = await eventsOf(db, change.id);
  expect(events.map(({ kind, body: { by } }) => [kind, by])).toEqual([
    ['drafted', ana],
    ['not-revealed', ana],
    ['unsealed', ana],
    ['revealed', ana],
  ]);
});

test('stored passwords are sealed again with the current key, if a key opens them', async () => {
  const context = await contextWithKey();
  const [change, other] = [await created(context), await created(context)];
  await sealedFor(context, change);
  const unreadable = { changeId: other.id, requester: ana, sealed: 'v2.AAAA' };
  await context.database.transaction((tx) =>
    sealSecret(tx, { ...unreadable, expiresAt: minutes(60) }),
  );
  const about = { requester: ana, now: NOON };
  const sealedTexts = () =>
    Promise.all([change, other].map(({ id }) => openSecret(context.database.db, id, about)));
  const before = await sealedTexts();
  const next = Buffer.alloc(32, 8);
  const reseal = (keys: Parameters<typeof resealSecrets>[1]) =>
    context.database.transaction((tx) => resealSecrets(tx, keys));

  await reseal(null);
  await reseal(KEY);
  expect(await sealedTexts()).toEqual(before);

  await reseal({ current: next, previous: [KEY] });
  const [sealed, kept] = await sealedTexts();
  expect(sealed).not.toBe(before[0]);
  expect(kept).toBe('v2.AAAA');
  const bound = { purpose: 'password of a created service', changeId: change.id } as const;
  expect(unseal(next, sealed ?? '', { ...bound, requester: ana })).toBe(PASSWORD);
});
