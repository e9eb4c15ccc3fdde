import { chmodSync, copyFileSync, globSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { SIGNALBOX } from '../harness/programs.ts';
import { runUnprivileged } from '../harness/run-limited.ts';
import { contentOf, folderForTest, signalbox, stopped, write } from './backup-files.ts';

/** A backup in a folder that only root can write, and a database to restore it to. */
async function backupElsewhere() {
  const { folder, url } = await stopped('before the backup');
  const copies = join(folder, 'copies');
  mkdirSync(copies);
  await signalbox(url, 'backup', join(copies, 'copy'));
  onTestFinished(() => chmodSync(copies, 0o755));
  const copy = join(copies, 'copy');
  const restore = () => runUnprivileged([SIGNALBOX, 'restore', copy], { DATABASE_URL: url });
  return { url, copies, copy, restore };
}

test('a restore from a folder that cannot be written leaves nothing in it', async () => {
  const { url, copies, restore } = await backupElsewhere();
  chmodSync(copies, 0o555);
  expect(await restore()).toMatchObject({ err: '', code: 0 });
  expect(globSync('*', { cwd: copies })).toEqual(['copy']);
  expect(await contentOf(url)).toBe('before the backup');
});

test('a restore of a copy with a write-ahead log has the commits of that log', async () => {
  const folder = folderForTest();
  const running = await write(`file:${join(folder, 'signalbox.db')}`, 'in the log');
  onTestFinished(() => running.close());
  for (const suffix of ['', '-wal'])
    copyFileSync(join(folder, `signalbox.db${suffix}`), join(folder, `copy${suffix}`));
  const url = `file:${join(folder, 'restored.db')}`;
  expect(await signalbox(url, 'restore', join(folder, 'copy'))).toMatchObject({ err: '', code: 0 });
  expect(await contentOf(url)).toBe('in the log');
});

test('a restore of an unreadable backup names the backup', async () => {
  const { copy, restore } = await backupElsewhere();
  chmodSync(copy, 0);
  const { err, code } = await restore();
  expect(err).toBe(
    `The database was not restored: The backup ${copy} cannot be read: unable to open database file. Check its owner and its mode\n`,
  );
  expect(code).toBe(1);
});
