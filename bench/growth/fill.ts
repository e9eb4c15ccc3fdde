import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import type { JsonObject } from '../../src/base/text.ts';
import { type AuditEvent, linkAfter } from '../../src/log/old/chain.ts';
import { changeRow } from '../../src/log/old/change-row.ts';
import { hashOfRecord } from '../../src/log/old/record-hash.ts';
import { GENESIS } from '../../src/storage/old/001-initial.ts';
import type { Head } from '../../src/storage/old/checkpoint.ts';
import { openDatabase } from '../../src/storage/old/database.ts';
import type { ApprovalTable, ChangeTable } from '../../src/storage/old/schema.ts';
import { AUDIT_KEY } from '../../test/harness/simulators.ts';
import { otherTables } from './other-tables.ts';
import { idOf, PEOPLE, type Step, scheduleNumbers, YEAR, yearChange } from './year.ts';

const CHUNK = 4_000;
const GROUPS = [{ id: 'S0LEADS001', size: 40, readAt: '2026-01-01T00:00:00.000Z' }];
/** Unique indexes that are built after the rows, which takes a third of the time. */
const LATER = [
  ['change', 'change_pkey', 'primary key (id)'],
  ['approval', 'approval_pkey', 'primary key (change_id, person)'],
  ['audit_event', 'audit_event_hash_key', 'unique (hash)'],
  ['audit_event', 'audit_event_change_id_version_key', 'unique (change_id, version)'],
] as const;

type Cell = string | number | null | undefined;
type Row = Readonly<Record<string, unknown>>;

/** Fills an empty database with a year that ended at `end`; every event is signed. */
export async function fill(url: string, end: Date): Promise<Head> {
  await (await openDatabase(url)).close();
  const client = new pg.Client(url);
  await client.connect();
  const folder = mkdtempSync(join(tmpdir(), 'signalbox-growth-'));
  // The server reads the files as another user.
  chmodSync(folder, 0o755);
  try {
    return await fillTables(client, end, copier(client, folder));
  } finally {
    rmSync(folder, { recursive: true });
    await client.end();
  }
}

type Copy = (table: string, rows: readonly Row[]) => Promise<void>;

async function fillTables(client: pg.Client, end: Date, copy: Copy): Promise<Head> {
  await client.query("set maintenance_work_mem = '512MB'");
  const foreign = await client.query<{ t: string; n: string; d: string }>(
    `select conrelid::regclass::text as t, conname as n, pg_get_constraintdef(oid) as d
      from pg_constraint where contype = 'f' and connamespace = current_schema()::regnamespace`,
  );
  for (const { t, n } of foreign.rows) await client.query(`alter table ${t} drop constraint ${n}`);
  for (const [t, n] of LATER) await client.query(`alter table ${t} drop constraint ${n}`);
  const head = await fillChanges(end, copy);
  await client.query('update audit_head set seq = $1, hash = $2', [head.seq, head.hash]);
  for (const [t, n, d] of LATER) await client.query(`alter table ${t} add constraint ${n} ${d}`);
  for (const statement of otherTables(end)) await client.query(statement);
  for (const { t, n, d } of foreign.rows) {
    await client.query(`alter table ${t} add constraint ${n} ${d}`);
  }
  await client.query('vacuum analyze');
  return head;
}

async function fillChanges(end: Date, copy: Copy): Promise<Head> {
  let head: Head = { seq: 0, hash: GENESIS };
  for (let first = 0; first < YEAR.changes; first += CHUNK) {
    const [changes, approvals, events]: [Row[], Row[], Row[]] = [[], [], []];
    const append = (event: AuditEvent) => {
      const row = linkAfter(head, AUDIT_KEY, event);
      head = { seq: row.seq, hash: row.hash };
      events.push({ ...row });
    };
    for (let n = first; n < first + CHUNK; n += 1) {
      const stored = storedChange(n, end);
      changes.push({ ...stored.row });
      approvals.push(...stored.verdicts.map((verdict) => ({ ...verdict })));
      for (const event of stored.events) append(event);
    }
    await copy('change', changes);
    await copy('approval', approvals);
    await copy('audit_event', events);
    process.stderr.write(`\rfilled ${first + CHUNK} changes, ${head.seq} events `);
  }
  process.stderr.write('\n');
  return head;
}

function storedChange(n: number, end: Date) {
  const { change, steps, runOf, isPlannedRevert } = yearChange(n, end);
  const { card, createdAt } = change;
  const row: ChangeTable = {
    ...changeRow(change),
    card_channel: card?.channel ?? null,
    card_ts: card?.ts ?? null,
    card_version: card ? change.version : null,
    revert_planned_at: isPlannedRevert ? createdAt.toISOString() : null,
  };
  const verdicts = change.approvals
    .map(({ by, at }): ApprovalTable => {
      const decided = { decision: 'approved', digest: change.digest, source: 'click' } as const;
      return { change_id: change.id, person: by, ...decided, at: at.toISOString() };
    })
    .toSorted((a, b) => (a.person < b.person ? -1 : 1));
  const record = hashOfRecord({ row, verdicts });
  const own = steps.map((step, index) => eventOf(step, { index, steps, change, record }));
  const fields = { target: change.plan.target.name, command: change.command };
  const run = runOf ? [runEvent(runOf, change, createdAt)] : [];
  const begun = n % 4 === 0 ? scheduleEvents(n, createdAt) : [];
  const more = YEAR.eventsPerChange - own.length - run.length - begun.length;
  const refused = Array.from({ length: more }, (_, index) =>
    refusal(new Date(createdAt.getTime() + 70_000 + index * 5_000), fields, n * 15 + index),
  );
  return { row, verdicts, events: [...own, ...run, ...begun, ...refused] };
}

interface StepContext {
  readonly index: number;
  readonly steps: readonly Step[];
  readonly change: ReturnType<typeof yearChange>['change'];
  readonly record: string;
}

function eventOf(step: Step, { index, steps, change, record }: StepContext): AuditEvent {
  const from = steps[index - 1]?.to;
  const { kind, by, to, facts = {} } = step;
  const members = by === 'signalbox' ? {} : { roles: ['operator', 'viewer'], groups: GROUPS };
  const names = index === 0 ? { command: change.command, target: change.plan.target.name } : {};
  const body: JsonObject = {
    ...{ by, digest: change.digest, rule: change.requires.rule, configuration: record },
    // Only the last version is compared with the row.
    record,
    ...{ ...names, ...facts, ...members },
  };
  const at = new Date(change.createdAt.getTime() + index * 10_000);
  const place = { changeId: change.id, version: index + 1, to, at };
  return { kind, ...place, ...(from ? { from } : {}), body };
}

function runEvent(schedule: StepContext['change']['id'], change: StepContext['change'], at: Date) {
  const occurrence = at.toISOString();
  const body = { by: 'signalbox', did: 'planned a run of', occurrence, change: change.id };
  return { kind: 'schedule-run', changeId: schedule, at, body };
}

const SCHEDULES = new Map(scheduleNumbers().map((one) => [one.n, one]));
const DAYS_90_MS = 90 * 86_400_000;

/** A schedule starts, and ends the one of the service before it. */
function scheduleEvents(n: number, at: Date): AuditEvent[] {
  const own = SCHEDULES.get(n);
  if (!own) return [];
  const until = new Date(at.getTime() + DAYS_90_MS).toISOString();
  const body = { by: PEOPLE[0] ?? '', did: 'put into force', until };
  const started = { kind: 'schedule-started', changeId: idOf(n), at, body };
  const before = [...SCHEDULES.values()].find(
    ({ service, generation }) => service === own.service && generation === own.generation - 1,
  );
  if (!before) return [started];
  const ended = { by: 'signalbox', did: 'ended', why: 'replaced' };
  return [{ kind: 'schedule-ended', changeId: idOf(before.n), at, body: ended }, started];
}

function refusal(at: Date, names: { command: string; target: string }, n: number): AuditEvent {
  const by = PEOPLE[(n * 17) % PEOPLE.length] ?? '';
  const why = { refusal: 'no-rule', rule: null, roles: ['viewer'], groups: GROUPS };
  return { kind: 'refused', at, body: { by, tried: names.command, ...names, ...why } };
}

function copier(client: pg.Client, folder: string): Copy {
  return async (table, rows) => {
    const [first] = rows;
    if (!first) return;
    const names = Object.keys(first);
    const file = join(folder, table);
    const lines = rows.map((row) => names.map((name) => cell(row[name] as Cell)).join(','));
    writeFileSync(file, `${lines.join('\n')}\n`, { mode: 0o644 });
    await client.query(`copy ${table} (${names.join(', ')}) from '${file}' with (format csv)`);
  };
}

function cell(value: Cell): string {
  if (value === null || value === undefined) return '';
  return typeof value === 'number' ? String(value) : `"${value.replaceAll('"', '""')}"`;
}
