import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { inject, onTestFinished } from 'vitest';
import {
  type Database,
  type DatabaseOptions,
  openDatabase,
} from '../../src/storage/engine/database.ts';

export type Engine = 'sqlite' | 'postgres';

/** The engines on which storage tests run: both, unless TEST_ENGINE names one (`npm run check`, mutation tests). */
export const ENGINES: readonly Engine[] = (['sqlite', 'postgres'] as const).filter(
  (engine) => engine === (process.env.TEST_ENGINE ?? engine),
);

/** Opens an empty database, which is closed and deleted after the test. */
export async function freshDatabase(
  engine: Engine,
  options: DatabaseOptions = {},
): Promise<Database> {
  const url = engine === 'sqlite' ? 'file::memory:' : await freshUrl(engine);
  return openForTest(url, options);
}

/** Opens a database, which may exist already, and closes it after the test. */
export async function openForTest(url: string, options: DatabaseOptions = {}): Promise<Database> {
  const database = await openDatabase(url, options);
  onTestFinished(() => database.close());
  return database;
}

/** Returns the URL of an empty database, for tests that open it several times. */
export async function freshUrl(engine: Engine): Promise<string> {
  if (engine === 'postgres') return freshSchema();
  const dir = mkdtempSync(join(tmpdir(), 'signalbox-sqlite-'));
  onTestFinished(() => rmSync(dir, { recursive: true, force: true }));
  return `file:${join(dir, 'signalbox.db')}`;
}

// One database per worker and a schema in it per test: creating a schema takes 1 ms, a database
// 100 ms.
const own = { database: `signalbox_${randomBytes(6).toString('hex')}`, made: false, schemas: 0 };

async function freshSchema(): Promise<string> {
  if (!own.made) await run(serverUrl(), `create database ${own.database}`);
  own.made = true;
  own.schemas += 1;
  const schema = `test_${own.schemas}`;
  const url = new URL(serverUrl());
  url.pathname = `/${own.database}`;
  await run(url.href, `create schema ${schema}`);
  url.searchParams.set('options', `-c search_path=${schema}`);
  return url.href;
}

/** Runs statements as the owner of the server, past the code under test. */
export async function run(url: string, statement: string): Promise<Record<string, unknown>[]> {
  const client = new pg.Client(url);
  await client.connect();
  try {
    return (await client.query<Record<string, unknown>>(statement)).rows;
  } finally {
    await client.end();
  }
}

function serverUrl(): string {
  const url = inject('postgresUrl');
  if (!url) throw new Error('test/storage/postgres.ts is missing among the globalSetup files');
  return url;
}
