import { chmodSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { appendEvent } from '../../src/log/old/append.ts';
import { archive } from '../../src/ops/audit.ts';
import { openDatabase } from '../../src/storage/old/database.ts';
import { saveInstance } from '../../src/storage/old/instances.ts';
import { SIGNALBOX } from '../harness/programs.ts';
import { runCommand } from '../harness/run-command.ts';
import { runOnFullDisk, runUnprivileged } from '../harness/run-limited.ts';
import { configFile } from '../ops/retention-file.ts';
import { freshDatabase, freshUrl } from '../storage/engines.ts';
import { aged, day, KEY, oldTrail, segmentsFolder, seqsOf } from '../storage/old-trail.ts';

function audit(url: string, config: string, ...args: string[]) {
  const env = {
    DATABASE_URL: url,
    SIGNALBOX_KEY: KEY.toString('base64'),
    SIGNALBOX_CONFIG: config,
  };
  return runCommand([SIGNALBOX, 'audit', ...args], env);
}

test('the command reads the retention of signalbox.yaml, and verify reads the folder', async () => {
  const url = await freshUrl('sqlite');
  const database = await openDatabase(url);
  await oldTrail(database);
  await database.close();
  const folder = segmentsFolder();
  const config = configFile('retention: { changes: 3650d, costs: 3650d }');
  const { out, err, code } = await audit(url, config, 'archive', '--segments', folder);
  expect({ err, code }).toEqual({ err: '', code: 0 });
  expect(out).toMatch(/^No event is old enough to be archived\.\nDeleted 0 rows of costs/);
});

const TODAY = Math.floor((Date.now() - day(0).getTime()) / 86_400_000);

/** An installation with an old change, and an old event that is larger than the disk. */
async function withLargeEvent() {
  const url = await freshUrl('sqlite');
  const database = await openDatabase(url);
  await aged(database, { from: TODAY - 400, to: TODAY - 399 });
  const event = { kind: 'x', at: day(TODAY - 399), body: { text: 'x'.repeat(100_000) } };
  await database.transaction((tx) => appendEvent(tx, KEY, event));
  await database.close();
  const env = {
    DATABASE_URL: url,
    SIGNALBOX_KEY: KEY.toString('base64'),
    SIGNALBOX_CONFIG: configFile('retention: { changes: 90d }'),
  };
  return { url, env, folder: segmentsFolder() };
}

const COMMAND = [SIGNALBOX, 'audit'];

test('a full disk of the segments is named, and not blamed on the database', async () => {
  const { url, env, folder } = await withLargeEvent();
  const words = [...COMMAND, 'archive', '--segments', folder];
  const { err, code } = await runOnFullDisk(65_536, words, env);
  expect(err).toMatch(
    /^The disk of \/.*\/audit-\S+\.jsonl is full: free some space\. Nothing was deleted\n$/,
  );
  expect(err).toContain(folder);
  expect(code).toBe(1);
  expect(readdirSync(folder)).toEqual([]);
  const database = await openDatabase(url);
  expect(await seqsOf(database)).toEqual([1, 2, 3]);
  await database.close();
});

test('a segment of another user is named, and not blamed on the database', async () => {
  const { env, folder } = await withLargeEvent();
  const words = [...COMMAND, 'archive', '--segments', folder];
  expect(await runCommand(words, env)).toMatchObject({ err: '', code: 0 });
  const [file = ''] = readdirSync(folder);
  chmodSync(join(folder, file), 0);
  const verify = [...COMMAND, 'verify', '--segments', folder];
  const { err, code } = await runUnprivileged(verify, env);
  expect(err).toBe(
    `${join(folder, file)} cannot be read (EACCES). Check the disk, and run the command as the owner of the file\n`,
  );
  expect(code).toBe(1);
});

test('nothing is archived with a wrong retention', async () => {
  const url = await freshUrl('sqlite');
  const config = configFile('retention: { changes: 5d }');
  const { out, err, code } = await audit(url, config, 'archive', '--segments', segmentsFolder());
  expect({ out, code }).toEqual({ out: '', code: 2 });
  expect(err).toContain('retention.changes');
});

const OPTIONS = { key: KEY, dryRun: false, version: '1.0.0', segments: '/' };
const DAY_MS = 86_400_000;

test('nothing is archived without a retention', async () => {
  const database = await freshDatabase('sqlite');
  const retention = { changesMs: null, costsMs: null };
  await expect(archive(database, { ...OPTIONS, retention })).rejects.toThrow('has no retention');
});

test('nothing is archived into a folder that does not exist', async () => {
  const database = await freshDatabase('sqlite');
  const retention = { changesMs: 90 * DAY_MS, costsMs: null };
  const options = { ...OPTIONS, retention, segments: '/does/not/exist' };
  await expect(archive(database, options)).rejects.toThrow('/does/not/exist is not a folder');
});

test('nothing is archived while a replica runs another release', async () => {
  const now = new Date('2030-01-01T00:00:00Z');
  const database = await freshDatabase('sqlite', { now: () => now });
  await oldTrail(database);
  const instance = { id: 'a', version: '0.9.0', startedAt: now, seenAt: now };
  await database.transaction((tx) => saveInstance(tx, instance));
  const options = { ...OPTIONS, segments: segmentsFolder() };
  const retention = { changesMs: 90 * DAY_MS, costsMs: null };
  await expect(archive(database, { ...options, retention })).rejects.toThrow(
    'A replica runs Signalbox 0.9.0, and this command is 1.0.0',
  );
  expect((await seqsOf(database)).length).toBe(10);
});

test('a dry run says what would be archived, and changes nothing', async () => {
  const now = new Date('2030-01-01T00:00:00Z');
  const database = await freshDatabase('sqlite', { now: () => now });
  await oldTrail(database);
  const retention = { changesMs: 90 * DAY_MS, costsMs: 120 * DAY_MS };
  const options = { ...OPTIONS, segments: segmentsFolder(), retention, dryRun: true };
  expect(await archive(database, options)).toEqual([
    'Without --dry-run, events 1 to 10 would be archived.',
  ]);
  expect((await seqsOf(database)).length).toBe(10);
});

test('costs from before the retention are deleted, also without one for changes', async () => {
  const now = new Date('2030-06-15T00:00:00Z');
  const database = await freshDatabase('sqlite', { now: () => now });
  const months = ['2029-12', '2030-01', '2030-02', '2030-03'];
  const row = { fetched_at: now.toISOString(), final: 1, report: '{}' } as const;
  await database.transaction((tx) =>
    tx
      .insertInto('cost_month')
      .values(months.map((month) => ({ month: `${month}/x`, ...row })))
      .execute(),
  );
  const retention = { changesMs: null, costsMs: 120 * DAY_MS };
  const lines = await archive(database, { ...OPTIONS, retention });
  expect(lines).toEqual(['Deleted 2 rows of costs from before 2030-02-15.']);
});
