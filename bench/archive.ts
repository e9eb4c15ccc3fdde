import { mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { sql } from 'kysely';
import type { ChangeId } from '../src/domain/change.ts';
import { archiveTrail } from '../src/log/old/archive.ts';
import { linkAfter } from '../src/log/old/chain.ts';
import { changeRow } from '../src/log/old/change-row.ts';
import { verifyChain } from '../src/log/old/verify-chain.ts';
import { verifySegments } from '../src/log/old/verify-segments.ts';
import { GENESIS } from '../src/storage/old/001-initial.ts';
import { type Database, openDatabase } from '../src/storage/old/database.ts';
import { aChange } from '../test/storage/example-change.ts';

/** Sizes and times of an archive: node bench/archive.ts [changes] [postgres://…, an empty database]. */
const [count = '200000', server] = process.argv.slice(2);
const CHANGES = Number(count);
const KEY = Buffer.alloc(32, 7);
const YEAR_MS = 365 * 86_400_000;
const START_MS = Date.parse('2024-01-01T00:00:00Z');
const BATCH = 100;
const PROGRESS_EVERY = 10_000;

const folder = mkdtempSync(join(tmpdir(), 'signalbox-archive-'));
const database = await openDatabase(server ?? `file:${join(folder, 'signalbox.db')}`);
try {
  await timed('generate', () => generate(database));
  const events = await rows('audit_event');
  report('rows', `change ${await rows('change')}, audit_event ${events}`);
  for (const table of ['change', 'audit_event']) report(`size of ${table}`, await sizeOf(table));
  await timed('verify, all in the database', () => verifyChain(database.db, KEY));
  const before = new Date(START_MS + YEAR_MS / 2);
  const request = { before, at: new Date(START_MS + YEAR_MS), folder };
  const { checkpoint, deleted } = await timed('archive half', () =>
    archiveTrail(database, KEY, request),
  );
  const bytes = statSync(join(folder, checkpoint?.file ?? '')).size;
  report('deleted', `${deleted.changes} changes, ${deleted.events} events`);
  report('segment', `${megabytes(bytes)}, ${checkpoint?.count} lines`);
  await timed('verify, from the checkpoint on', () => verifyChain(database.db, KEY));
  await timed('verify the segment', () => verifySegments(database.db, KEY, { folder }));
} finally {
  await database.close();
  rmSync(folder, { recursive: true, force: true });
}

/** Five events per change, as of a change with one approval. */
async function generate({ transaction }: Database): Promise<void> {
  const example = changeRow(aChange({ state: 'succeeded' }));
  const states = ['draft', 'pending', 'approved', 'executing', 'succeeded'] as const;
  const body = { by: 'UANA', digest: 'd'.repeat(64), record: 'e'.repeat(64), reason: 'load test' };
  let head = { seq: 0, hash: GENESIS };
  for (let first = 0; first < CHANGES; first += BATCH) {
    const numbers = Array.from({ length: Math.min(BATCH, CHANGES - first) }, (_, n) => first + n);
    await transaction(async (tx) => {
      const changes = numbers.map((n) => ({
        ...example,
        id: idOf(n),
        created_at: at(n),
        ended_at: at(n),
      }));
      await tx.insertInto('change').values(changes).execute();
      const links = numbers.flatMap((n) =>
        states.map((to, version) => {
          const facts = { changeId: idOf(n), version: version + 1, to, at: new Date(at(n)), body };
          const row = linkAfter(head, KEY, { kind: to, ...facts });
          head = { seq: row.seq, hash: row.hash };
          return row;
        }),
      );
      await tx.insertInto('audit_event').values(links).execute();
      await tx.updateTable('audit_head').set(head).execute();
    });
    const done = first + numbers.length;
    if (done % PROGRESS_EVERY === 0) process.stderr.write(`${done} of ${CHANGES} changes\n`);
  }
}

function idOf(n: number): ChangeId {
  return `T-${n}` as ChangeId;
}

function at(n: number): string {
  return new Date(START_MS + Math.floor((n / CHANGES) * YEAR_MS)).toISOString();
}

async function rows(table: 'change' | 'audit_event'): Promise<number> {
  const query = database.db.selectFrom(table).select((eb) => eb.fn.countAll().as('n'));
  return Number((await query.executeTakeFirstOrThrow()).n);
}

async function sizeOf(table: string): Promise<string> {
  const query = server
    ? sql<{ bytes: number }>`select pg_total_relation_size(${table}) as bytes`
    : sql<{ bytes: number }>`select sum(pgsize) as bytes from dbstat
        where name in (select name from sqlite_master where tbl_name = ${table})`;
  const { rows: found } = await query.execute(database.db);
  return megabytes(Number(found[0]?.bytes));
}

async function timed<T>(name: string, work: () => Promise<T>): Promise<T> {
  process.stderr.write(`${name} …\n`);
  const started = performance.now();
  const result = await work();
  report(name, `${((performance.now() - started) / 1_000).toFixed(1)} s`);
  return result;
}

function megabytes(bytes: number): string {
  return `${(bytes / 1e6).toFixed(0)} MB`;
}

function report(name: string, value: string): void {
  process.stdout.write(`${name}: ${value}\n`);
}
