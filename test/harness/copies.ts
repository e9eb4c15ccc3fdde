import { copyFileSync, rmSync } from 'node:fs';
import { dropEventGuards } from '../../src/storage/index.ts';
import { sqlitePath } from '../../src/storage/sqlite.ts';
import { run } from '../storage/engines.ts';

const counts = new Map<string, number>();

/** Copies a database that no bot uses. Returns what puts the copy in its place. */
export async function copyDatabase(databaseUrl: string): Promise<() => Promise<void>> {
  const number = (counts.get(databaseUrl) ?? 0) + 1;
  counts.set(databaseUrl, number);
  return databaseUrl.startsWith('file:')
    ? copyFile(sqlitePath(databaseUrl), number)
    : copySchema(databaseUrl, number);
}

function copyFile(path: string, number: number): () => Promise<void> {
  const copy = `${path}.copy${number}`;
  copyFileSync(path, copy);
  return async () => {
    for (const part of ['', '-wal', '-shm']) rmSync(`${path}${part}`, { force: true });
    copyFileSync(copy, path);
  };
}

async function copySchema(url: string, number: number): Promise<() => Promise<void>> {
  const rows = await run(
    url,
    'select current_schema() as schema, tablename as name from pg_tables where schemaname = current_schema()',
  );
  const copy = `${rows[0]?.schema}_copy${number}`;
  const names = rows.map(({ name }) => String(name));
  const all = (each: (name: string) => string) => names.map(each).join(';');
  await run(
    url,
    `create schema ${copy}; ${all((name) => `create table ${copy}.${name} as table ${name}`)}`,
  );
  return async () => {
    const guards = dropEventGuards('postgres').map((each) =>
      each.replace('trigger', 'trigger if exists'),
    );
    const replaced = all(
      (name) => `delete from ${name}; insert into ${name} table ${copy}.${name}`,
    );
    await run(url, `${guards.join(';')}; ${replaced}`);
  };
}
