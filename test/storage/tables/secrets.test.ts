import { expect, test } from 'vitest';
import { seal, unseal } from '../../../src/storage/tables/seal.ts';
import {
  dropExpiredSecrets,
  dropSecret,
  openSecret,
  sealSecret,
} from '../../../src/storage/tables/secrets.ts';
import { ENGINES, freshDatabase } from '../engines.ts';
import { aChange, ana, ben, minutes, NOON, stored } from '../example-change.ts';

const KEY = Buffer.alloc(32, 7);

test('a sealed password is unsealed with its key and change id', () => {
  const sealed = seal(KEY, 'Pässword 🔑', 'K3M9QD');
  expect(sealed).not.toContain('ssword');
  expect(unseal(KEY, sealed, 'K3M9QD')).toBe('Pässword 🔑');
  expect(seal(KEY, 'Pässword 🔑', 'K3M9QD')).not.toBe(sealed);
});

const SEALED = seal(KEY, 'secret', 'K3M9QD');

test.for<[string, Buffer, string, string]>([
  ['another key', Buffer.alloc(32, 8), SEALED, 'K3M9QD'],
  ['another change', KEY, SEALED, 'P7T2WA'],
  ['a modified character', KEY, flipped(SEALED, 20), 'K3M9QD'],
  ['a missing end', KEY, SEALED.slice(0, -4), 'K3M9QD'],
  ['no content', KEY, 'v1.', 'K3M9QD'],
  ['another format', KEY, SEALED.replace('v1', 'v2'), 'K3M9QD'],
])('a sealed password does not open with %s', ([, key, sealed, context]) => {
  expect(() => unseal(key, sealed, context)).toThrow();
});

function flipped(text: string, at: number): string {
  return `${text.slice(0, at)}${text[at] === 'A' ? 'B' : 'A'}${text.slice(at + 1)}`;
}

test.for(ENGINES)(
  'only the requester reads a password, before it expires and once, on %s',
  async (engine) => {
    const database = await freshDatabase(engine);
    const { id } = aChange();
    await stored(database, aChange({ id }));
    const row = { changeId: id, sealed: SEALED, requester: ana, expiresAt: minutes(10) };
    await database.transaction((tx) => sealSecret(tx, row));
    const open = (requester: typeof ana, now: Date) =>
      openSecret(database.db, id, { requester, now });

    expect(await open(ben, NOON)).toBeNull();
    expect(await open(ana, minutes(10))).toBeNull();
    expect(await open(ana, NOON)).toBe(SEALED);
    const drops = [1, 2, 3].map(() => database.transaction((tx) => dropSecret(tx, id)));
    expect((await Promise.all(drops)).filter(Boolean)).toHaveLength(1);
    expect(await open(ana, NOON)).toBeNull();
  },
);

test.for(ENGINES)(
  'a password that was not read is deleted after it expires on %s',
  async (engine) => {
    const database = await freshDatabase(engine);
    const [old, young] = [aChange(), aChange()];
    await stored(database, old, young);
    await database.transaction(async (tx) => {
      const row = { sealed: SEALED, requester: ana };
      await sealSecret(tx, { ...row, changeId: old.id, expiresAt: minutes(1) });
      await sealSecret(tx, { ...row, changeId: young.id, expiresAt: minutes(2) });
    });
    expect(await database.transaction((tx) => dropExpiredSecrets(tx, minutes(1)))).toBe(1);
    expect(await openSecret(database.db, young.id, { requester: ana, now: NOON })).toBe(SEALED);
  },
);
