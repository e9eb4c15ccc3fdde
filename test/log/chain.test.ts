import { createHash, createHmac } from 'node:crypto';
import { expect, test } from 'vitest';
import { appendEvent, keyProblem, lastKeyId } from '../../src/log/old/append.ts';
import {
  isAuthentic,
  linkAfter,
  nextKeyId,
  readEventBody,
  walkAfter,
} from '../../src/log/old/chain.ts';
import { authenticityCheck, leftKeys, storeKeyStart } from '../../src/log/old/key-eras.ts';
import { type AuditKey, keyId, readKeyRing } from '../../src/log/old/key-ring.ts';
import { GENESIS } from '../../src/storage/old/001-initial.ts';
import { writeMeta } from '../../src/storage/old/meta.ts';
import type { AuditEventTable } from '../../src/storage/old/schema.ts';
import { freshDatabase } from '../storage/engines.ts';
import { NOON, newId } from '../storage/example-change.ts';

const [KEY, OTHER] = [Buffer.alloc(32, 7), Buffer.alloc(32, 8)];
const RING = { current: KEY, previous: [OTHER] };
const event = (kind: string, body = {}) => ({ kind, at: NOON, body });
const row = (key: Buffer | null, kind = 'refused', body = {}): AuditEventTable =>
  linkAfter({ seq: 0, hash: GENESIS }, key, event(kind, body));

/** A row that claims the id of another key than the one that signed it, with a valid hash. */
function claiming(id: string, key: Buffer | null): AuditEventTable {
  const own = row(key);
  const body = own.body.replace(keyId(key), id);
  const link = key ? createHmac('sha256', key) : createHash('sha256');
  return { ...own, body, hash: link.update(`${own.prev_hash}\n${body}`).digest('hex') };
}

test.for<[string, AuditEventTable, AuditKey, boolean]>([
  ['signed with the key', row(KEY), KEY, true],
  ['signed with a previous key', row(OTHER), RING, true],
  ['signed with an unknown key', row(OTHER), KEY, false],
  ['without a signature', row(null), KEY, false],
  ['without a signature in a trail without a key', row(null), null, true],
  ['signed with a key that this process lacks', row(KEY), null, false],
  ['under the id of another key', claiming(keyId(KEY), OTHER), RING, false],
  ['without a signature under the id of a key', claiming(keyId(KEY), null), null, false],
  ['with a modified column', { ...row(KEY), kind: 'approved' }, KEY, false],
  ['with a modified body', { ...row(KEY), body: row(OTHER).body }, RING, false],
  ['that cannot be read', { ...row(KEY), body: 'x' }, KEY, false],
])('whether an event is authentic: %s', ([, stored, keys, expected]) => {
  expect(isAuthentic(stored, keys)).toBe(expected);
});

test.for<[string, Partial<AuditEventTable>, AuditKey]>([
  ['its hash differs', { hash: 'f'.repeat(64) }, KEY],
  ['it follows another event', { prev_hash: 'f'.repeat(64) }, KEY],
  ['a column differs', { change_id: newId() }, KEY],
  ['its key is not in the ring', {}, OTHER],
])('an event that was authentic before is not, when %s', ([, over, keys]) => {
  const stored = row(KEY);
  expect(isAuthentic({ ...stored }, KEY)).toBe(true);
  expect(isAuthentic({ ...stored, ...over }, keys)).toBe(false);
  expect(isAuthentic({ ...stored }, KEY)).toBe(true);
});

test('a hash that another key made is not taken for that of this key', () => {
  const [own, forged] = [row(KEY), claiming(keyId(KEY), OTHER)];
  expect(isAuthentic({ ...own, hash: forged.hash }, KEY)).toBe(false);
  expect(isAuthentic({ ...own }, KEY)).toBe(true);
  expect(isAuthentic({ ...forged }, KEY)).toBe(false);
});

const NEXT = { key: keyId(OTHER) };

test.for<[string, AuditEventTable, string]>([
  ['its own key', row(KEY), keyId(KEY)],
  ['the key that a key-change event names', row(KEY, 'key-changed', NEXT), keyId(OTHER)],
  [
    'its own key, where an event of another kind names a key',
    row(KEY, 'refused', NEXT),
    keyId(KEY),
  ],
  [
    'its own key, where a key-change event names none',
    row(KEY, 'key-changed', { key: 7 }),
    keyId(KEY),
  ],
  ['no key after an unsigned key-change event', row(null, 'key-changed', NEXT), 'none'],
  ['no key after an unreadable event', { ...row(KEY), body: 'x' }, 'none'],
])('the next event is signed with %s', ([, stored, expected]) => {
  expect(nextKeyId(stored)).toBe(expected);
  expect(walkAfter(stored)).toEqual({ seq: 1, hash: stored.hash, keyId: expected });
});

test('the id of a key has 8 hexadecimal digits, and does not reveal the key', () => {
  const key = Buffer.alloc(32, 77);
  expect(keyId(key)).toMatch(/^[0-9a-f]{8}$/);
  expect(keyId(Buffer.alloc(32, 77))).toBe(keyId(key));
  expect(keyId(Buffer.alloc(32, 78))).not.toBe(keyId(key));
});

test('keys are read from base64, and none without a current key', () => {
  const [current, previous] = [KEY, OTHER].map((key) => key.toString('base64'));
  expect(readKeyRing(current ?? '', [previous ?? ''])).toEqual(RING);
  expect(readKeyRing(null, [previous ?? ''])).toBeNull();
});

test('an unreadable event is named with its number and its change', () => {
  const changeId = newId();
  const own = linkAfter({ seq: 3, hash: 'x' }, KEY, { ...event('refused'), changeId });
  const text = `audit event 4 (change ${changeId})`;
  expect(() => readEventBody({ ...own, body: '{}' })).toThrow(text);
  expect(() => readEventBody({ ...row(KEY), body: '{}' })).toThrow('audit event 1 (change none)');
});

test('a trail names the problem of keys that cannot continue it', async () => {
  const { db, transaction } = await freshDatabase('sqlite');
  expect(await keyProblem(db, null)).toBeNull();
  await transaction((tx) => appendEvent(tx, null, event('refused')));
  expect(await keyProblem(db, KEY)).toBeNull();
  await transaction((tx) => appendEvent(tx, KEY, event('refused')));
  expect(await keyProblem(db, KEY)).toBeNull();
  expect(await keyProblem(db, null)).toBe('key-missing');
  expect(await keyProblem(db, OTHER)).toBe('key-differs');
  const reason =
    'The audit trail continues with another SIGNALBOX_KEY. Add that key to ' +
    'SIGNALBOX_PREVIOUS_KEYS, and restart this Signalbox.';
  const other = transaction((tx) => appendEvent(tx, OTHER, event('refused')));
  await expect(other).rejects.toThrow(reason);
});

test('the last event decides which key signs next, whichever process appended it', async () => {
  const { db, transaction } = await freshDatabase('sqlite');
  const first = await transaction((tx) => appendEvent(tx, OTHER, event('refused')));
  const body = { by: 'signalbox', key: keyId(KEY), previous: keyId(OTHER) };
  const changed = linkAfter(first, OTHER, { kind: 'key-changed', at: NOON, body });
  const head = { seq: changed.seq, hash: changed.hash };
  // Another process.
  await transaction(async (tx) => {
    await tx.insertInto('audit_event').values(changed).execute();
    await tx.updateTable('audit_head').set(head).execute();
  });
  await transaction((tx) => appendEvent(tx, { current: OTHER, previous: [KEY] }, event('refused')));
  expect(await lastKeyId(db)).toBe(keyId(KEY));
});

/** An event of the earlier key after its recorded end. */
const LATE = { ...linkAfter({ seq: 98, hash: 'x' }, OTHER, event('approved')) };

test('the start of a key records its author and the end of each earlier key', async () => {
  const { db, transaction } = await freshDatabase('sqlite');
  const left = { [keyId(OTHER)]: 98 };
  const announced = { by: 'signalbox', key: keyId(KEY), previous: keyId(OTHER) };
  await transaction(async (tx) => {
    await appendEvent(tx, OTHER, { kind: 'key-changed', at: NOON, body: announced });
    await storeKeyStart(tx, RING, { at: NOON, left });
  });
  const started = db.selectFrom('audit_event').selectAll().where('seq', '=', 2);
  const stored = await started.executeTakeFirstOrThrow();
  expect(readEventBody(stored)).toMatchObject({
    kind: 'key-started',
    at: NOON,
    body: { by: 'signalbox', left },
  });
  expect(await leftKeys(db, RING, keyId(KEY))).toEqual(left);
  expect(await leftKeys(db, RING, keyId(OTHER))).toEqual({});
  expect((await authenticityCheck(db, RING))(LATE)).toBe(false);
});

const ANNOUNCED = row(OTHER, 'key-changed', { key: keyId(KEY), previous: keyId(OTHER) });
const LEFT = { left: { [keyId(OTHER)]: 999 } };

/** An event right after the one in which the other key names the key. */
function start(key: Buffer | null, kind = 'key-started', head = ANNOUNCED): AuditEventTable {
  return linkAfter(head, key, event(kind, LEFT));
}

// The pointer to the start is a row that an attacker can change.
test.for<[string, AuditEventTable | null, boolean]>([
  ['the event after its announcement', start(KEY), true],
  ['an unsigned event', start(null), false],
  ['a signed event of another kind', start(KEY, 'refused'), false],
  ['an event under the id of the key', { ...start(OTHER), body: start(KEY).body }, false],
  [
    'an event with another previous one',
    start(KEY, 'key-started', { ...ANNOUNCED, hash: 'x' }),
    false,
  ],
  ['an event that does not exist', null, false],
])('whether %s is accepted as the start of a key', async ([, stored, accepted]) => {
  const { db, transaction } = await freshDatabase('sqlite');
  await transaction(async (tx) => {
    await tx.insertInto('audit_event').values(ANNOUNCED).execute();
    if (stored) await tx.insertInto('audit_event').values(stored).execute();
    await writeMeta(tx, 'audit-key-started', '2');
  });
  expect((await authenticityCheck(db, RING))(LATE)).toBe(accepted);
  expect((await authenticityCheck(db, RING))({ ...row(KEY) })).toBe(true);
});

test('an unsigned event below the first number is not authentic', async () => {
  const { db } = await freshDatabase('sqlite');
  const below = linkAfter({ seq: -8, hash: 'x' }, null, event('approved'));
  expect((await authenticityCheck(db, KEY))(below)).toBe(false);
});
