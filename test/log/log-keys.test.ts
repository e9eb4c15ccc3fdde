import { chmodSync, existsSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { Secret } from '../../src/base/errors.ts';
import { foldOf } from '../../src/domain/fold.ts';
import { Damaged, keyChange, rotationText, rowAfter } from '../../src/log/chain.ts';
import {
  KeyProblem,
  publicKeyText,
  readKeys,
  sealText,
  signText,
  unsealText,
} from '../../src/log/keys.ts';
import { appendProblem, follow, head, openLog } from '../../src/log/log.ts';
import { verifyAll } from '../../src/log/upkeep.ts';
import { sqlitePath } from '../../src/storage/sqlite.ts';
import { ENGINES, emptyUrl, onEngines } from '../storage/engines.ts';
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

test('the first start on SQLite creates a key file that only its owner can read', async () => {
  const databaseUrl = await emptyUrl('sqlite');
  const file = `${sqlitePath(databaseUrl)}.key`;
  const keys = readKeys({ databaseUrl, ...NONE });
  expect(statSync(file).mode & 0o777).toBe(0o600);
  expect(Buffer.from(readFileSync(file, 'utf8'), 'base64')).toHaveLength(32);
  expect(readKeys({ databaseUrl, ...NONE }).current.id).toBe(keys.current.id);
});

test('other users lose the permission to read the key file', async () => {
  const databaseUrl = await emptyUrl('sqlite');
  const file = `${sqlitePath(databaseUrl)}.key`;
  readKeys({ databaseUrl, ...NONE });
  chmodSync(file, 0o644);
  readKeys({ databaseUrl, ...NONE });
  expect(statSync(file).mode & 0o777).toBe(0o600);
});

test('without its key file, a database that exists gets no other key', async () => {
  const databaseUrl = await emptyUrl('sqlite');
  const file = `${sqlitePath(databaseUrl)}.key`;
  const keys = readKeys({ databaseUrl, ...NONE });
  await openLog(await storeAt(databaseUrl), keys);
  rmSync(file);
  expect(() => readKeys({ databaseUrl, ...NONE })).toThrow('is missing, and the database exists');
  expect(existsSync(file)).toBe(false);
  writeFileSync(file, 'half a key');
  expect(() => readKeys({ databaseUrl, ...NONE })).toThrow('has no key of 32 bytes');
});

test('PostgreSQL needs SIGNALBOX_KEY', () => {
  expect(() => readKeys({ databaseUrl: 'postgres://localhost/x', ...NONE })).toThrow(KeyProblem);
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
});

onEngines(
  'a process with another key writes nothing and stops no other process',
  async (engine) => {
    const { open } = await installation(engine);
    const log = await open();
    await write(log, 'change/A', drafted(), confirmed);
    await expect(open(OTHER)).rejects.toBeInstanceOf(KeyProblem);
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
  const renewed = await open(NEW);
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
  expect(appendProblem(old)?.message).toContain('was replaced by a newer one');
  expect(await rowsIn(old.store)).toHaveLength(4);
});

onEngines(
  'replicas that start with the same new key at once replace the old one once',
  async (engine) => {
    const { open } = await installation(engine);
    await write(await open(), 'change/A', drafted());
    const [one] = await Promise.all([open(NEW), open(NEW), open(NEW)]);
    const types = (await rowsIn(one.store)).map(({ type }) => type);
    expect(types).toEqual(['drafted', 'key-changed']);
  },
);

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

onEngines('a change of the key that only the next key signed is refused', async (engine) => {
  const { open } = await installation(engine);
  const log = await open();
  await write(log, 'change/A', drafted());
  const { hash } = head(log);
  const forge = { ...OTHER.current, id: key(1).id };
  const { type, ...body } = keyChange(hash, key(1), OTHER.current);
  const row = rowAfter(head(log), forge, {
    stream: 'installation',
    version: 1,
    type,
    at: 1,
    body: JSON.stringify(body),
  });
  await tamper(log.store, insertion(row));
  await expect(follow(log)).rejects.toThrow('not signed by both keys');
  await expect(open()).rejects.toBeInstanceOf(Damaged);
});

onEngines('a change of the key that only the old key signed is refused', async (engine) => {
  const { open } = await installation(engine);
  const log = await open();
  await write(log, 'change/A', drafted());
  // A thief of the old key names the public key of the next one, and has no proof of it.
  const stolen = keyChange(head(log).hash, key(1), key(2));
  const { type, ...body } = { ...stolen, proof: keyChange('elsewhere', key(1), key(2)).proof };
  await tamper(
    log.store,
    insertion(
      rowAfter(head(log), key(1), {
        stream: 'installation',
        version: 1,
        type,
        at: 1,
        body: JSON.stringify(body),
      }),
    ),
  );
  await expect(open()).rejects.toThrow('not signed by both keys');
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

test.for(
  ENGINES.flatMap((engine) => [
    ['oldPublicKey', engine] as const,
    ['newPublicKey', engine] as const,
  ]),
)('a change of the key whose %s is another one is refused on %s', async ([field, engine]) => {
  const { open } = await installation(engine);
  const log = await open();
  await write(log, 'change/A', drafted());
  const { type, ...body } = keyChange(head(log).hash, key(1), key(2));
  const changed = { ...body, [field]: publicKeyText(key(9).publicKey) };
  if (field === 'newPublicKey') {
    // With the proof of the key that it carries.
    const text = rotationText(head(log).hash, key(1).id, key(2).id);
    Object.assign(changed, { proof: signText(key(9), text) });
  }
  const draft = { stream: 'installation', version: 1, type, at: 1, body: JSON.stringify(changed) };
  await tamper(log.store, insertion(rowAfter(head(log), key(1), draft)));
  await expect(open()).rejects.toThrow('not signed by both keys');
});

onEngines('a command does not replace the key before the bot does', async (engine) => {
  const { open } = await installation(engine);
  const log = await open();
  await write(log, 'change/A', drafted());
  const command = await openLog(log.store, NEW, { replacesKey: false });
  expect(await stateOf(command, 'A')).toBe('draft');
  await expect(write(command, 'change/A', confirmed)).rejects.toThrow(
    'still signed with an earlier key',
  );
  expect(await rowsIn(log.store)).toHaveLength(1);
});
