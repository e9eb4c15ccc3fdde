import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { announcedRestore } from '../../src/log/old/restore-mark.ts';
import { openDatabase } from '../../src/storage/old/database.ts';
import { readMeta, writeMeta } from '../../src/storage/old/meta.ts';
import { SIGNALBOX } from '../harness/programs.ts';
import { runCommand } from '../harness/run-command.ts';

export function folderForTest(): string {
  const folder = mkdtempSync(join(tmpdir(), 'signalbox-backup-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  return folder;
}

export function signalbox(url: string, ...args: string[]) {
  return runCommand([SIGNALBOX, ...args], { DATABASE_URL: url });
}

/** A value that a test reads again. */
export async function write(url: string, value: string) {
  const database = await openDatabase(url);
  await database.transaction((tx) => writeMeta(tx, 'last-probe', value));
  return database;
}

export async function contentOf(url: string) {
  const database = await openDatabase(url);
  const content = [await readMeta(database.db, 'last-probe'), await announcedRestore(database.db)];
  await database.close();
  return content;
}
