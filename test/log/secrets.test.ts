import { expect, test } from 'vitest';
import { type SealContext, seal, unseal } from '../../src/log/old/seal.ts';
import {
  dropExpiredSecrets,
  dropSecret,
  openSecret,
  sealSecret,
} from '../../src/workflow/old/stored-secrets.ts';
import { ENGINES, freshDatabase } from '../storage/engines.ts';
import { aChange, ana, ben, minutes, NOON, stored } from '../storage/example-change.ts';

const KEY = Buffer.alloc(32, 7);

const CONTEXT: SealContext = {
  purpose: 'password of a created service',
  changeId: aChange().id,
  requester: ana,
};

test('a sealed password is unsealed with its key, change and requester', () => {
  const sealed = seal(KEY, 'Pässword 🔑', CONTEXT);
  expect(sealed).not.toContain('ssword');
  expect(unseal(KEY, sealed, CONTEXT)).toBe('Pässword 🔑');
  expect(seal(KEY, 'Pässword 🔑', CONTEXT)).not.toBe(sealed);
});

const SEALED = seal(KEY, 'secret', CONTEXT);
// A purpose that a later release may add.
const OTHER_PURPOSE = 'token of a pipe' as SealContext['purpose'];

test.for<[string, Buffer, string, Partial<SealContext>]>([
  ['another key', Buffer.alloc(32, 8), SEALED, {}],
  ['another change', KEY, SEALED, { changeId: aChange().id }],
  ['another requester', KEY, SEALED, { requester: ben }],
  ['another purpose', KEY, SEALED, { purpose: OTHER_PURPOSE }],
  ['a modified character', KEY, flipped(SEALED, 20), {}],
  ['a missing end', KEY, SEALED.slice(0, -4), {}],
  ['no content', KEY, 'v2.', {}],
  ['the format of release 1.0', KEY, SEALED.replace('v2', 'v1'), {}],
  ['an unknown format', KEY, SEALED.replace('v2', 'v3'), {}],
])('a sealed password does not open with %s', ([, key, sealed, other]) => {
  expect(() => unseal(key, sealed, { ...CONTEXT, ...other })).toThrow();
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
