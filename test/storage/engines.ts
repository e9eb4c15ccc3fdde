import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { inject, onTestFinished, test } from 'vitest';

export type Engine = 'sqlite' | 'postgres';

/** The engines on which storage tests run: both, unless TEST_ENGINE names one (`npm run check`, mutation tests). */
export const ENGINES: readonly Engine[] = (['sqlite', 'postgres'] as const).filter(
  (engine) => engine === (process.env.TEST_ENGINE ?? engine),
);

/** A test of what touches the engine. */
export function onEngines(title: string, check: (engine: Engine) => Promise<void>) {
  test.for(ENGINES)(`${title} (%s)`, check);
}

/** Returns the URL of a database without tables, which is deleted after the test. */
export async function emptyUrl(engine: Engine): Promise<string> {
  return engine === 'sqlite' ? emptyFile() : freshSchema();
}

function emptyFile(): string {
  const dir = mkdtempSync(join(tmpdir(), 'signalbox-sqlite-'));
  onTestFinished(() => rmSync(dir, { recursive: true, force: true }));
  return `file:${join(dir, 'signalbox.db')}`;
}

// One database per worker and a schema in it per test: creating a schema takes 1 ms, a database
// 100 ms. The connection stays open, because a new one takes the server longer than the schema.
const own = { owner: null as Promise<pg.Client> | null, url: '', schemas: 0 };

async function openOwn(): Promise<pg.Client> {
  const database = `signalbox_${randomBytes(6).toString('hex')}`;
  await run(serverUrl(), `create database ${database}`);
  const url = new URL(serverUrl());
  url.pathname = `/${database}`;
  own.url = url.href;
  const owner = new pg.Client(own.url);
  // The server ends the connection when the run ends.
  owner.on('error', () => undefined);
  await owner.connect();
  return owner;
}

async function freshSchema(): Promise<string> {
  own.owner ??= openOwn();
  const owner = await own.owner;
  own.schemas += 1;
  const schema = `test_${own.schemas}`;
  await owner.query(`create schema ${schema}`);
  const url = new URL(own.url);
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
