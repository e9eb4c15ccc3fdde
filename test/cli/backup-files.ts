import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { Secret } from '../../src/base/errors.ts';
import { append, type Log, openLog, readKeys } from '../../src/log/index.ts';
import { openStore } from '../../src/storage/index.ts';
import { SIGNALBOX } from '../harness/programs.ts';
import { runCommand } from '../harness/run-command.ts';
import { rowsIn } from '../log/logs.ts';

export function folderForTest(): string {
  const folder = mkdtempSync(join(tmpdir(), 'signalbox-backup-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  return folder;
}

const SIGNALBOX_KEY = Buffer.alloc(32, 1).toString('base64');

export function signalbox(url: string, ...args: string[]) {
  return runCommand([SIGNALBOX, ...args], { DATABASE_URL: url, SIGNALBOX_KEY });
}

/** The folder and the address of a stopped database with this text. */
export async function stopped(text: string) {
  const folder = folderForTest();
  const url = `file:${join(folder, 'signalbox.db')}`;
  await (await write(url, text)).close();
  return { folder, url };
}

/** Opens the database like a bot, with the key file or `SIGNALBOX_KEY`, and appends a text that a test reads again. */
export async function write(url: string, text: string, hasKeyFile = false) {
  const key = hasKeyFile ? null : new Secret(SIGNALBOX_KEY);
  const keys = readKeys({ databaseUrl: url, key, previous: [] });
  const store = await openStore(url);
  const log = await openLog(store, keys);
  await noticed(log, text);
  return { append: (next: string) => noticed(log, next), close: store.close };
}

async function noticed(log: Log, text: string): Promise<void> {
  const event = { type: 'noticed', to: null, title: '', text } as const;
  await append(log, async () => ({ events: [{ stream: 'notice/1', event }], result: null }));
}

/** The text that was written last. */
export async function contentOf(url: string): Promise<string> {
  const store = await openStore(url);
  const rows = await rowsIn(store);
  await store.close();
  return JSON.parse(rows.at(-1)?.body ?? '{}').text;
}
