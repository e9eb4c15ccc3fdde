import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import type { Change, State } from '../../src/domain/change.ts';
import { appendEvent } from '../../src/log/old/append.ts';
import { archiveTrail } from '../../src/log/old/archive.ts';
import type { AuditKey } from '../../src/log/old/key-ring.ts';
import type { Database } from '../../src/storage/old/database.ts';
import { elsewhere, NOON, stored } from './example-change.ts';

export const KEY = Buffer.alloc(32, 7);
const DAY_MS = 86_400_000;

export const day = (count: number) => new Date(NOON.getTime() + count * DAY_MS);
/** Everything before day 100 is old. */
export const BEFORE = day(100);
export const AT = day(500);

export function segmentsFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'signalbox-segments-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

export function archiveInto(database: Database, folder: string, keys: AuditKey = KEY) {
  return archiveTrail(database, keys, { before: BEFORE, at: AT, folder });
}

/** Stores a change with two events: one when it began and, unless it is open, one when it ended. */
export async function aged(
  database: Database,
  { from, to, state = 'succeeded' }: { from: number; to?: number; state?: State },
  over: Partial<Change> = {},
): Promise<Change> {
  const ended = to === undefined ? {} : { outcome: { kind: 'succeeded', at: day(to) } };
  const change = elsewhere({ ...over, state, createdAt: day(from), ...(ended as Partial<Change>) });
  await stored(database, change);
  await database.transaction(async (tx) => {
    if (to !== undefined) {
      const row = tx.updateTable('change').set({ ended_at: day(to).toISOString() });
      await row.where('id', '=', change.id).execute();
    }
  });
  await event(database, change, 1, to === undefined ? state : 'pending', day(from));
  if (to !== undefined) await event(database, change, 2, state, day(to));
  return change;
}

export async function event(
  database: Database,
  { id: changeId }: Pick<Change, 'id'>,
  version: number,
  to: State,
  at: Date,
): Promise<void> {
  const body = { by: 'UANA' };
  await database.transaction((tx) =>
    appendEvent(tx, KEY, { kind: `to-${to}`, changeId, version, to, at, body }),
  );
}

/** Four old changes, events 1 to 8, and a recent one, events 9 and 10. */
export async function oldTrail(database: Database): Promise<readonly Change[]> {
  const changes: Change[] = [];
  for (const from of [1, 10, 20, 30]) changes.push(await aged(database, { from, to: from + 1 }));
  changes.push(await aged(database, { from: 400, to: 401 }));
  return changes;
}

export async function seqsOf({ db }: Database): Promise<readonly number[]> {
  const rows = await db.selectFrom('audit_event').select('seq').orderBy('seq').execute();
  return rows.map(({ seq }) => seq);
}
