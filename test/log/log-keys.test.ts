import { chmodSync, existsSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { Secret } from '../../src/base/errors.ts';
import { foldOf } from '../../src/domain/fold.ts';
import { Damaged, keyChange, rotationText, rowAfter } from '../../src/log/chain.ts';
import {
  KeyProblem,
  placeKeys,
  publicKeyFrom,
  publicKeyText,
  readKeys,
  type SigningKey,
  sealText,
  signText,
  unsealText,
} from '../../src/log/keys.ts';
import { appendProblem, follow, head, openLog } from '../../src/log/log.ts';
import { verifyAll } from '../../src/log/upkeep.ts';
import { sqlitePath } from '../../src/storage/sqlite.ts';
import { emptyUrl, onEngines } from '../storage/engines.ts';
import { storeAt } from '../storage/stores.ts';
import {
  approved,
  confirmed,
  drafted,
  idOf,
  insertion,
  installation,
  KEYS,
  key,
  rowsIn,
  stateOf,
  tamper,
  write,
} from './logs.ts';

const NONE = { key: null, previous: [] };
const NEW = { current: key(2), previous: [key(1)] };
const OTHER = { current: key(9), previous: [] };
const ED25519 = publicKeyText(key(1).publicKey);

/** What a person reads whose process gets no key. */
function problemOf(databaseUrl: string): readonly string[] {
  try {
    readKeys({ databaseUrl, ...NONE });
  } catch (error) {
    if (error instanceof KeyProblem && error.name === 'KeyProblem')
      return [error.message, error.hint];
  }
  return [];
}

test('the first start on SQLite creates a key file that only its owner can read', async () => {
  const databaseUrl = await emptyUrl('sqlite');
  const file = `${sqlitePath(databaseUrl)}.key`;
  const keys = readKeys({ databaseUrl, ...NONE });
  expect(statSync(file).mode & 0o777).toBe(0o600);
  expect(Buffer.from(readFileSync(file, 'utf8'), 'base64')).toHaveLength(32);
  // Other users lose the permission to read it.
  chmodSync(file, 0o644);
  expect(readKeys({ databaseUrl, ...NONE }).current.id).toBe(keys.current.id);
  expect(statSync(file).mode & 0o777).toBe(0o600);
});

test('without its key file, a database gets no other key once it has an event', async () => {
  const databaseUrl = await emptyUrl('sqlite');
  const file = `${sqlitePath(databaseUrl)}.key`;
  const keys = readKeys({ databaseUrl, ...NONE });
  const log = await openLog(await storeAt(databaseUrl), keys);
  rmSync(file);
  expect(problemOf(databaseUrl)).toEqual([]);
  await write(log, 'change/K3M9QD', drafted());
  rmSync(file);
  expect(problemOf(databaseUrl)).toEqual([
    `The key file ${file} is missing, and the database may have events`,
    'restore the file from the backup, or set SIGNALBOX_KEY to the key of this database',
  ]);
  expect(existsSync(file)).toBe(false);
  writeFileSync(file, 'half a key');
  expect(problemOf(databaseUrl)).toEqual([
    `The key file ${file} has no key of 32 bytes`,
    'restore it from the backup',
  ]);
});

test('PostgreSQL needs SIGNALBOX_KEY, and a database in memory has a key of its own', () => {
  expect(problemOf('postgres://localhost/x')).toEqual([
    'SIGNALBOX_KEY is not set, which PostgreSQL needs',
    'set it to 32 bytes in base64, for example from openssl rand -base64 32',
  ]);
  const inMemory = () => readKeys({ databaseUrl: 'file::memory:', ...NONE }).current.id;
  expect(inMemory()).not.toBe(inMemory());
  expect(existsSync(':memory:.key')).toBe(false);
});

test('what an earlier release signed, sealed and showed is read by this one', () => {
  const [first] = placeKeys(KEYS);
  expect({ id: key(1).id, place: first?.toString('hex') }).toEqual({
    id: 'UjyPBHyvKAVPp7Ri',
    place: 'bd37449d19c1d0b0fdab6cff02a1834719c6f3a5a43f9a401ccd7956473dd33e',
  });
  expect(placeKeys(NEW).at(-1)).toEqual(first);
  const sealed = 'UjyPBHyvKAVPp7Ri.dz__SwsVlmWmN2rbtRMBLcjlA2hPgXm-I0v33pSP7entuZFfSKIGiLY';
  expect(unsealText(KEYS, sealed, ['7KQ2MX', 'UANA'])).toBe('geheim – ü');
});

test.for([
  ['a text that is no key', ''],
  ['a key that is cut', ED25519.slice(0, -4)],
  ['a key with more behind it', `${ED25519.replace(/=*$/, '')}AAAA`],
  [
    'a key of another kind',
    Buffer.from(`302a300506032b656e032100${'07'.repeat(32)}`, 'hex').toString('base64'),
  ],
])('%s is no public key of the log', ([, text = '']) => {
  expect(publicKeyFrom(text)).toBeNull();
  expect(publicKeyFrom(ED25519)).not.toBeNull();
});

test('SIGNALBOX_KEY signs, and earlier keys only verify', () => {
  const text = (fill: number) => new Secret(Buffer.alloc(32, fill).toString('base64'));
  const keys = readKeys({
    databaseUrl: 'postgres://x',
    key: text(1),
    previous: [text(2), text(1)],
  });
  expect(keys.current.id).toBe(key(1).id);
  expect(keys.previous.map(({ id }) => id)).toEqual([key(2).id]);
});

test('a sealed text opens with the key that sealed it, in the same context', () => {
  const sealed = sealText(KEYS, 'secret', ['7KQ2MX', 'UANA']);
  expect(sealed).not.toContain('secret');
  expect(unsealText(NEW, sealed, ['7KQ2MX', 'UANA'])).toBe('secret');
  expect(() => unsealText(KEYS, sealed, ['7KQ2MX', 'UBEN'])).toThrow();
  const altered = `${sealed.slice(0, -4)}${sealed.at(-4) === 'A' ? 'B' : 'A'}${sealed.slice(-3)}`;
  expect(() => unsealText(KEYS, altered, ['7KQ2MX', 'UANA'])).toThrow();
  expect(() => unsealText(OTHER, sealed, ['7KQ2MX', 'UANA'])).toThrow('not sealed with a key');
  const empty = sealText(KEYS, '', []);
  expect(unsealText(KEYS, empty, [])).toBe('');
  for (const cut of [empty.slice(0, -4), KEYS.current.id]) {
    expect(() => unsealText(KEYS, cut, [])).toThrow();
  }
});

onEngines(
  'a process with another key writes nothing and stops no other process',
  async (engine) => {
    const { open } = await installation(engine);
    const log = await open();
    await write(log, 'change/A', drafted(), confirmed);
    await expect(open(OTHER)).rejects.toMatchObject({
      name: 'KeyProblem',
      hint: 'set SIGNALBOX_KEY to the key of this database; after a change of the key, SIGNALBOX_PREVIOUS_KEYS to the earlier one',
    });
    expect(await rowsIn(log.store)).toHaveLength(2);
    await write(log, 'change/A', approved());
    expect(await stateOf(log, 'A')).toBe('approved');
  },
);

onEngines('a log that another key wrote in the place of ours is not believed', async (engine) => {
  const { open } = await installation(engine);
  const log = await open();
  await write(log, 'change/A', drafted());
  const forged = rowAfter({ seq: 0, hash: 'genesis' }, OTHER.current, {
    stream: 'change/A',
    version: 1,
    type: 'drafted',
    at: 1,
    body: JSON.stringify({ ...drafted(), requester: 'UEVE' }),
  });
  await tamper(log.store, 'delete from event', insertion(forged));
  await expect(open()).rejects.toBeInstanceOf(KeyProblem);
  await expect(write(log, 'change/A', confirmed)).rejects.toThrow();
  expect(await rowsIn(log.store)).toHaveLength(1);
});

onEngines('a new key replaces the old one with an event that both have signed', async (engine) => {
  const { open } = await installation(engine);
  const old = await open();
  await write(old, 'change/A', drafted(2), confirmed);
  const renewed = await open({ current: key(2), previous: [key(9), key(1)] });
  await write(renewed, 'change/A', approved());
  const rows = await rowsIn(old.store);
  expect(rows.map((row) => [row.type, row.key === key(1).id ? 'old' : 'new'])).toEqual([
    ['drafted', 'old'],
    ['confirmed', 'old'],
    ['key-changed', 'old'],
    ['approved', 'new'],
  ]);
  // Without the earlier key, and with it.
  for (const keys of [{ current: key(2), previous: [] }, NEW]) {
    const later = await open(keys);
    expect(await verifyAll(later)).toMatchObject({ ok: true });
    expect((await later.load('change/A', foldOf(idOf('A')))).version).toBe(3);
    expect(appendProblem(later)).toBeNull();
  }
});

onEngines('a process with the replaced key reads on and appends nothing', async (engine) => {
  const { open } = await installation(engine);
  const old = await open();
  await write(old, 'change/A', drafted(2), confirmed);
  await write(await open(NEW), 'change/A', approved());
  expect((await old.load('change/A', foldOf(idOf('A')))).version).toBe(3);
  await expect(write(old, 'change/A', approved('UCLEO'))).rejects.toBeInstanceOf(KeyProblem);
  expect(appendProblem(old)).toMatchObject({
    message: 'The key of this process was replaced by a newer one: it reads, and writes nothing',
    hint: 'start it with the current SIGNALBOX_KEY',
  });
  expect(await rowsIn(old.store)).toHaveLength(4);
});

onEngines(
  'replicas that start with the same new key at once replace the old one once',
  async (engine) => {
    const { open } = await installation(engine);
    await write(await open(), 'change/A', drafted());
    const [one, ...others] = await Promise.all([open(NEW), open(NEW), open(NEW)]);
    const types = (await rowsIn(one.store)).map(({ type }) => type);
    expect(types).toEqual(['drafted', 'key-changed']);
    for (const log of [one, ...others]) await write(log, 'change/A', approved());
  },
);

test('a process that cannot record the new key does not start with it', async () => {
  const { open } = await installation('sqlite');
  const log = await open();
  await write(log, 'change/A', drafted());
  const full = `create trigger full before insert on event begin select raise(abort, 'full'); end`;
  await tamper(log.store, full);
  await expect(open(NEW)).rejects.toThrow('full');
});

test('another installation does not become ours by a change of its key', async () => {
  const { open } = await installation('sqlite');
  await write(await open(OTHER), 'change/A', drafted());
  await open({ current: key(8), previous: [key(9)] });
  await expect(open()).rejects.toBeInstanceOf(KeyProblem);
});

onEngines('an event that the replaced key signed afterwards is refused', async (engine) => {
  const { open } = await installation(engine);
  await write(await open(), 'change/A', drafted());
  const log = await open(NEW);
  const draft = { stream: 'change/A', version: 2, type: 'confirmed', at: 1, body: '{}' };
  await tamper(log.store, insertion(rowAfter(head(log), key(1), draft)));
  await expect(log.load('change/A', foldOf(idOf('A')))).rejects.toThrow('its key was not in force');
  await expect(follow(log)).rejects.toThrow('its key was not in force');
  await expect(open(NEW)).rejects.toBeInstanceOf(Damaged);
});

onEngines('a key that was replaced does not come back', async (engine) => {
  const { open } = await installation(engine);
  await open();
  const log = await open();
  await write(log, 'change/A', drafted());
  await open(NEW);
  const back = await open({ current: key(1), previous: [key(2)] });
  await expect(write(back, 'change/A', confirmed)).rejects.toBeInstanceOf(KeyProblem);
  const { type, ...body } = keyChange(head(back).hash, key(2), key(1));
  const row = rowAfter(head(back), key(2), {
    stream: 'installation',
    version: 2,
    type,
    at: 1,
    body: JSON.stringify(body),
  });
  await tamper(log.store, insertion(row));
  await expect(follow(back)).rejects.toThrow('is in force again');
});

const NINE = publicKeyText(key(9).publicKey);
const elsewhere = keyChange('elsewhere', key(1), key(2));
const proofOfNine = (at: string) => signText(key(9), rotationText(at, key(1).id, key(2).id));

// One thing is wrong at a time.
test.for<readonly [string, number, (at: string) => object, SigningKey]>([
  ['that only the next key signed', 9, () => ({}), { ...key(9), id: key(1).id }],
  // A thief of the old key names the public key of the next one, and has no proof of it.
  ['that only the old key signed', 2, () => ({ proof: elsewhere.proof }), key(1)],
  ['with another old key', 2, () => ({ oldPublicKey: NINE }), key(1)],
  ['with another new key', 9, (at) => ({ key: key(2).id, proof: proofOfNine(at) }), key(1)],
  ['with no old key', 2, () => ({ oldPublicKey: 'x' }), key(1)],
  ['with no new key', 2, () => ({ newPublicKey: 'x' }), key(1)],
])('a change of the key %s is refused', async ([, next, wrong, signer]) => {
  const { open } = await installation('sqlite');
  const log = await open();
  await write(log, 'change/A', drafted());
  const { hash } = head(log);
  const { type, ...body } = keyChange(hash, key(1), key(next));
  const forged = JSON.stringify({ ...body, ...wrong(hash) });
  const draft = { stream: 'installation', version: 1, type, at: 1, body: forged };
  await tamper(log.store, insertion(rowAfter(head(log), signer, draft)));
  for (const read of [() => follow(log), open]) {
    await expect(read()).rejects.toThrow(
      'event 2: the change of the key is not signed by both keys',
    );
  }
});

onEngines('a command does not replace the key before the bot does', async (engine) => {
  const { open } = await installation(engine);
  const log = await open();
  await write(log, 'change/A', drafted());
  const command = await openLog(log.store, NEW, { replacesKey: false });
  expect(await stateOf(command, 'A')).toBe('draft');
  await expect(write(command, 'change/A', confirmed)).rejects.toMatchObject({
    message: 'The log is still signed with an earlier key',
    hint: 'start the bot with the new key first',
  });
  expect(await rowsIn(log.store)).toHaveLength(1);
});
