import { chmodSync, writeFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { signingKey } from '../../src/log/keys.ts';
import { openLog } from '../../src/log/log.ts';
import { databaseLines } from '../../src/ops/doctor-database.ts';
import type { DatabaseInspection, FileFacts } from '../../src/ops/inspect.ts';
import { UnusableDatabase } from '../../src/storage/errors.ts';
import { addJobs, openStore, sql, transaction } from '../../src/storage/index.ts';
import { AUDIT_KEY } from '../harness/simulators.ts';
import { approvedChange, key, tamper } from '../log/logs.ts';
import { startDoctorSandbox } from '../ops/doctor-sandbox.ts';
import { expectLine, line, namesOf } from '../ops/lines.ts';
import { createUser } from './database-user.ts';
import { emptyUrl, onEngines } from './engines.ts';
import { storeAt } from './stores.ts';

const diagnosed = async (databaseUrl: string) =>
  (await startDoctorSandbox({ databaseUrl })).diagnose();
const pathOf = (url: string) => url.slice('file:'.length);

onEngines('a healthy database passes and keeps no trace of the doctor', async (engine) => {
  const url = await emptyUrl(engine);
  const { root } = await storeAt(url);
  const lines = await diagnosed(url);
  expect(namesOf(lines, 'failed')).toEqual([]);
  expect(line(lines, 'schema')?.says).toBe('as in this release');
  expect(line(lines, 'writable')?.status).toBe('ok');
  expect(await root.selectFrom('cost_state').select('key').execute()).toEqual([]);
});

test('the lock line reports whether a bot uses the file', async () => {
  const url = await emptyUrl('sqlite');
  const store = await openStore(url);
  expect(line(await diagnosed(url), 'lock')?.says).toContain('held by a running Signalbox');
  await transaction(store, (tx) => addJobs(tx, { kind: 'card', key: 'still writable', dueAt: 1 }));
  await store.close();
  expect(line(await diagnosed(url), 'lock')?.says).toContain('free');
});

onEngines('the database of a newer release is reported', async (engine) => {
  const url = await emptyUrl(engine);
  const store = await storeAt(url);
  await transaction(store, (tx) => sql`insert into migration values ('999-later')`.execute(tx));
  const fix = 'run that release or a newer one';
  expectLine(await diagnosed(url), 'database', ['failed', '(999-later)', fix]);
});

test('a write test that a person must fix shows the reason and its own fix', () => {
  const error = new UnusableDatabase('the folder /data cannot be written', 'change its mode');
  const examined = { ok: true, value: WELL } as const;
  const written = { ok: false, error } as const;
  const lines = databaseLines({ url: 'postgres://db', file: null, examined, written });
  const [says, fix] = [error.message, error.hint];
  expect(line(lines, 'writable')).toMatchObject({ status: 'failed', says, fix });
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
  const lines = await diagnosed(url);
  expect(JSON.stringify(lines)).not.toContain('hidden-word');
  const told = lines.find((one) => one.status === 'failed');
  expect(told?.fix).toContain(fix);
});

async function withoutRights(): Promise<string> {
  const url = await emptyUrl('postgres');
  await storeAt(url);
  return (await createUser(url)).url;
}

test('a file that other users can read is reported with the command that fixes it', async () => {
  const url = await emptyUrl('sqlite');
  await storeAt(url);
  chmodSync(pathOf(url), 0o644);
  const fix = `chmod 600 ${pathOf(url)}`;
  expectLine(await diagnosed(url), 'file rights', ['failed', '', fix]);
});

test('a file that is not a database is reported', async () => {
  const url = await emptyUrl('sqlite');
  writeFileSync(pathOf(url), 'a letter, not a database '.repeat(100), { mode: 0o600 });
  expect(line(await diagnosed(url), 'database')?.fix).toContain('not a Signalbox database');
});

test('another key than that of the log is reported', async () => {
  const url = await emptyUrl('sqlite');
  await approvedChange(await openLog(await storeAt(url), { current: key(8), previous: [] }), 'A');
  expectLine(await diagnosed(url), 'log', ['failed', '', 'SIGNALBOX_PREVIOUS_KEYS']);
});

onEngines('a damaged log is reported', async (engine) => {
  const url = await emptyUrl(engine);
  const store = await storeAt(url);
  await approvedChange(await openLog(store, { current: signingKey(AUDIT_KEY), previous: [] }), 'A');
  await tamper(store, 'delete from event where seq = 2');
  const [says, fix] = ['nothing is executed', 'signalbox audit verify'];
  expectLine(await diagnosed(url), 'log', ['failed', says, fix]);
});

const WELL: DatabaseInspection = {
  ...{ schema: 'current', standby: null, statementTimeout: '10s', mayCreateTables: true },
  ...{ clock: { server: new Date(), here: Date.now() }, log: { ok: true }, instances: [] },
  backupAt: new Date(),
};

const NO_TABLES = { schema: 'behind', mayCreateTables: false } as const;
const VERIFIED = 'postgres://db/signalbox?sslmode=verify-full';

function linesOf(change: Partial<DatabaseInspection>, url = VERIFIED) {
  const examined = { ok: true, value: { ...WELL, ...change } } as const;
  const written = { ok: true, value: undefined } as const;
  return databaseLines({ url, file: null, examined, written });
}

test.for<[string, Partial<DatabaseInspection>, string, string]>([
  ['may lose commits', { standby: 'It has a standby' }, 'durability', 'synchronous_standby_names'],
  ['has another time', { clock: { server: new Date(0), here: 60_000 } }, 'clock', 'NTP'],
  ['was not backed up for three days', { backupAt: new Date(0) }, 'backup', 'every night'],
  ['is of an earlier release', { schema: 'behind' }, 'schema', 'back up the database'],
  ['has no backup', { backupAt: null }, 'backup', 'signalbox backup --made'],
  ['applies no time limit', { statementTimeout: '0' }, 'time limits', 'PgBouncer'],
  ['lets nobody make tables', NO_TABLES, 'rights', 'grant create'],
])('a server that %s is reported', ([, change, name, fix]) => {
  const told = line(linesOf(change), name);
  expect(told?.status).toBe(name === 'rights' ? 'failed' : 'warning');
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
    expectLine(lines, 'lock', ['failed', '/data/x.db.lock belongs to another user']);
    const foreign = { ...file, exists: true, ownedByUs: false };
    const told = databaseLines({ url: 'file:/data/x.db', file: foreign, examined, written: null });
    expectLine(told, 'writable', ['skipped', 'Signalbox is ready only if it can write']);
  },
);

const PERMITTED = 'as DATABASE_INSECURE permits';

test.for<[string, string | undefined]>([
  ['postgres://db/x', `without TLS, ${PERMITTED}`],
  ['postgres://db/x?sslmode=disable', `without TLS, ${PERMITTED}`],
  ['postgres://db/x?sslmode=no-verify', `TLS without a verified certificate, ${PERMITTED}`],
  [VERIFIED, 'TLS with a verified certificate'],
  ['postgres://127.0.0.1/x', undefined],
  ['postgres:///x?host=/run/postgresql', undefined],
  ['postgres://%2Frun%2Fpostgresql/x', undefined],
  ['postgres://[::1]/x', undefined],
])('the transport to %s is shown', ([url, says]) => {
  const shown = line(linesOf({}, url), 'transport');
  expect(shown?.says).toBe(says);
  if (says) expect(shown?.status).toBe(url === VERIFIED ? 'ok' : 'warning');
});

test('a healthy server has no next steps', () => {
  expect(linesOf({}).filter(({ fix }) => fix !== null)).toEqual([]);
});
