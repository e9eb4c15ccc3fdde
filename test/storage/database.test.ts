import { chmodSync, writeFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { appendEvent } from '../../src/log/old/append.ts';
import { storeTrailError } from '../../src/log/old/trail-marks.ts';
import { databaseLines } from '../../src/ops/doctor-database.ts';
import type { DatabaseInspection, FileFacts } from '../../src/ops/inspect.ts';
import { UnusableDatabase } from '../../src/storage/errors.ts';
import { openDatabase } from '../../src/storage/old/database.ts';
import { readMeta, writeMeta } from '../../src/storage/old/meta.ts';
import { SCHEMA_VERSION } from '../../src/storage/old/migrate.ts';
import { startDoctorSandbox } from '../ops/doctor-sandbox.ts';
import { line, namesOf } from '../ops/lines.ts';
import { createUser } from './database-user.ts';
import { ENGINES, emptyUrl, openForTest } from './engines.ts';

const pathOf = (url: string) => url.slice('file:'.length);

test.for(ENGINES)(
  'a healthy database passes and keeps no trace of the doctor on %s',
  async (engine) => {
    const url = await emptyUrl(engine);
    const database = await openForTest(url);
    const sandbox = await startDoctorSandbox({ databaseUrl: url });
    const lines = await sandbox.diagnose();
    expect(namesOf(lines, 'failed')).toEqual([]);
    expect(line(lines, 'schema')?.says).toContain(`version ${SCHEMA_VERSION}`);
    expect(line(lines, 'writable')?.status).toBe('ok');
    expect(await readMeta(database.db, 'doctor')).toBeNull();
  },
);

test('the lock line reports whether a bot uses the file', async () => {
  const url = await emptyUrl('sqlite');
  const database = await openDatabase(url);
  const sandbox = await startDoctorSandbox({ databaseUrl: url });
  expect(line(await sandbox.diagnose(), 'lock')?.says).toContain('held by a running Signalbox');
  await database.transaction((tx) => writeMeta(tx, 'still', 'writable'));
  await database.close();
  expect(line(await sandbox.diagnose(), 'lock')?.says).toContain('free');
});

test.for(ENGINES)('the database of a newer release is reported on %s', async (engine) => {
  const url = await emptyUrl(engine);
  const database = await openForTest(url);
  await database.transaction(async (tx) => {
    await writeMeta(tx, 'schema-version', '77');
    await writeMeta(tx, 'oldest-compatible-schema', '77');
  });
  const sandbox = await startDoctorSandbox({ databaseUrl: url });
  expect(line(await sandbox.diagnose(), 'schema')).toMatchObject({
    status: 'failed',
    says: expect.stringContaining('version 77'),
    fix: expect.stringContaining('newer Signalbox'),
  });
});

test('the schema of a newer compatible release passes', () => {
  const lines = linesOf({ schema: SCHEMA_VERSION + 1 });
  expect(line(lines, 'schema')).toMatchObject({
    status: 'ok',
    says: `version ${SCHEMA_VERSION + 1} of a newer release, compatible with ${SCHEMA_VERSION}`,
  });
});

test('a write test that a person must fix shows the reason and its own fix', () => {
  const error = new UnusableDatabase('the folder /data cannot be written', 'change its mode');
  const examined = { ok: true, value: WELL } as const;
  const written = { ok: false, error } as const;
  const lines = databaseLines({ url: 'postgres://db', file: null, examined, written });
  const [says, fix] = [error.message, error.hint];
  expect(line(lines, 'writable')).toMatchObject({ status: 'failed', says, fix });
});

test('pending migrations are reported and not run', async () => {
  const url = await emptyUrl('postgres');
  const database = await openForTest(url);
  await database.transaction((tx) => writeMeta(tx, 'schema-version', '1'));
  const sandbox = await startDoctorSandbox({ databaseUrl: url });
  expect(line(await sandbox.diagnose(), 'schema')).toMatchObject({
    status: 'warning',
    fix: expect.stringContaining('back up the database'),
  });
  expect(await readMeta(database.db, 'schema-version')).toBe('1');
});

test('before the first start the doctor creates nothing and reports no problem', async () => {
  const sandbox = await startDoctorSandbox();
  const lines = await sandbox.diagnose();
  expect(line(lines, 'database')?.says).toContain('created at the first start');
  expect(namesOf(await sandbox.diagnose(), 'failed')).toEqual([]);
});

test.for<[string, string, string]>([
  ['a folder that is not there', 'file:/nowhere/at/all.db', 'create /nowhere/at'],
  ['a server that is not there', 'postgres://u:hidden-word@127.0.0.1:1/x', 'does not answer'],
  ['a user without rights', 'wrong user', 'lacks a permission'],
])('%s is reported', async ([, databaseUrl, fix]) => {
  const url = databaseUrl === 'wrong user' ? await withoutRights() : databaseUrl;
  const sandbox = await startDoctorSandbox({ databaseUrl: url });
  const lines = await sandbox.diagnose();
  expect(JSON.stringify(lines)).not.toContain('hidden-word');
  const told = lines.find((one) => one.status === 'failed');
  expect(told?.fix).toContain(fix);
});

async function withoutRights(): Promise<string> {
  const url = await emptyUrl('postgres');
  await openForTest(url);
  return (await createUser(url)).url;
}

test('a file that other users can read is reported with the command that fixes it', async () => {
  const url = await emptyUrl('sqlite');
  await openForTest(url);
  chmodSync(pathOf(url), 0o644);
  const sandbox = await startDoctorSandbox({ databaseUrl: url });
  expect(line(await sandbox.diagnose(), 'file rights')).toMatchObject({
    status: 'failed',
    fix: `chmod 600 ${pathOf(url)}`,
  });
});

test('a file that is not a database is reported', async () => {
  const url = await emptyUrl('sqlite');
  writeFileSync(pathOf(url), 'a letter, not a database '.repeat(100), { mode: 0o600 });
  const sandbox = await startDoctorSandbox({ databaseUrl: url });
  expect(line(await sandbox.diagnose(), 'database')?.fix).toContain('not a Signalbox database');
});

test('a wrong audit key is reported', async () => {
  const url = await emptyUrl('sqlite');
  const database = await openForTest(url);
  const event = { kind: 'refused' as const, at: new Date(), body: {} };
  await database.transaction(async (tx) => {
    await appendEvent(tx, Buffer.alloc(32, 8), event);
  });
  const sandbox = await startDoctorSandbox({ databaseUrl: url });
  expect(line(await sandbox.diagnose(), 'audit trail')?.says).toContain('is not the key');
});

test.for(ENGINES)('a broken audit trail is reported on %s', async (engine) => {
  const url = await emptyUrl(engine);
  const database = await openForTest(url);
  await database.transaction((tx) => storeTrailError(tx, null, 'Event 7 is missing.'));
  const sandbox = await startDoctorSandbox({ databaseUrl: url });
  expect(line(await sandbox.diagnose(), 'audit trail')).toMatchObject({
    status: 'failed',
    says: 'the verification failed, so nothing is executed. Event 7 is missing.',
  });
});

const WELL: DatabaseInspection = {
  schema: SCHEMA_VERSION,
  known: SCHEMA_VERSION,
  isReadable: true,
  durability: { fsync: 'on', synchronousCommit: 'on' },
  statementTimeout: '10s',
  clock: { server: new Date(), here: Date.now() },
  mayCreateTables: true,
  keyProblem: null,
  trailProblem: null,
  instances: [],
};

const VERIFIED = 'postgres://db/signalbox?sslmode=verify-full';

function linesOf(change: Partial<DatabaseInspection>, url = VERIFIED) {
  const examined = { ok: true, value: { ...WELL, ...change } } as const;
  const written = { ok: true, value: undefined } as const;
  return databaseLines({ url, file: null, examined, written });
}

test.for<[string, Partial<DatabaseInspection>, string, string]>([
  [
    'loses commits',
    { durability: { fsync: 'off', synchronousCommit: 'on' } },
    'durability',
    'fsync',
  ],
  ['has another time', { clock: { server: new Date(0), here: 60_000 } }, 'clock', 'NTP'],
  ['applies no time limit', { statementTimeout: '0' }, 'time limits', 'PgBouncer'],
  ['lets nobody make tables', { schema: 1, mayCreateTables: false }, 'rights', 'grant create'],
])('a server that %s is reported', ([, change, name, fix]) => {
  const told = line(linesOf(change), name);
  expect(told?.status).not.toBe('ok');
  expect(told?.fix).toContain(fix);
});

test.for([true, false])(
  'a lock file of another user is reported (database exists: %s)',
  (exists) => {
    const file: FileFacts = {
      ...{ path: '/data/x.db', exists, restoreInterrupted: false },
      ...{ folder: '/data', folderIsWritable: true },
      ...{ readableByOthers: [], ownedByUs: true, lockIsUsable: false, running: false },
    };
    const examined = { ok: true, value: WELL } as const;
    const lines = databaseLines({ url: 'file:/data/x.db', file, examined, written: null });
    expect(line(lines, 'lock')).toMatchObject({
      status: 'failed',
      says: expect.stringContaining('/data/x.db.lock belongs to another user'),
    });
  },
);

test.for<[string, string | undefined]>([
  ['postgres://db/x', 'without TLS, as DATABASE_INSECURE permits'],
  ['postgres://db/x?sslmode=disable', 'without TLS, as DATABASE_INSECURE permits'],
  [
    'postgres://db/x?sslmode=no-verify',
    'TLS without a verified certificate, as DATABASE_INSECURE permits',
  ],
  [VERIFIED, 'TLS with a verified certificate'],
  ['postgres://127.0.0.1/x', undefined],
  ['postgres:///x?host=/run/postgresql', undefined],
])('the transport to %s is shown', ([url, says]) => {
  const shown = line(linesOf({}, url), 'transport');
  expect(shown?.says).toBe(says);
  if (says) expect(shown?.status).toBe(url === VERIFIED ? 'ok' : 'warning');
});

test('a healthy server has no next steps', () => {
  expect(linesOf({}).filter(({ fix }) => fix !== null)).toEqual([]);
});
