import { createHash } from 'node:crypto';
import { z } from 'zod';
import type { AuditEventTable, Db } from '../../storage/old/schema.ts';
import { rowsAfter } from './append.ts';
import { type ChainProblem, verifyNext, type Walk, walkAfter } from './chain.ts';
import { authenticityCheck } from './key-eras.ts';
import { type AuditKey, currentKey } from './key-ring.ts';

/**
 * The events between the last valid event and the first one after it that is signed as it is. The
 * stored rows in between are named by an unkeyed hash. A keyed hash of them must never be stored or
 * shown: an attacker could write it into the row as the valid hash of a forged event.
 */
export const Gap = z.object({
  /** The number of the first event that is missing or invalid. */
  first: z.int(),
  /** The hash of the valid event before it. */
  previous: z.string(),
  /** The number of the next signed event, from which the trail continues; often `first` plus 1. */
  next: z.int(),
  /** The hash of that event. */
  following: z.string(),
  /** SHA-256 over the rows in between as they are stored. */
  rows: z.string(),
});
export type Gap = z.infer<typeof Gap>;

export interface MeasuredGap {
  readonly gap: Gap;
  readonly problem: ChainProblem;
  /** Continues the verification after the gap. */
  readonly after: Walk;
}

/** Returns the id of a gap: a hash of everything that identifies it. */
export function gapId({ first, previous, next, following, rows }: Gap): string {
  const text = JSON.stringify([first, previous, next, following, rows]);
  return createHash('sha256').update(text).digest('hex');
}

/** The first characters of the id, with which users compare two gaps. */
export function gapName(gap: Gap): string {
  return gapId(gap).slice(0, 8);
}

// An attacker may number an event below the first one.
const BEFORE_ALL = -(2 ** 31);
const BATCH = 1_000;

/** Returns the rows after a walk, those with a number below the first one included. */
export function rowsAfterWalk(db: Db, walk: Walk, limit: number): Promise<AuditEventTable[]> {
  return rowsAfter(db, startAfter(walk), limit);
}

function startAfter({ seq }: Walk): number {
  return seq === 0 ? BEFORE_ALL : seq;
}

/**
 * Measures the gap right after a valid event. Returns null where no signed event follows, where the
 * next event is valid, and without a key, because an unsigned event can be forged.
 */
export async function measureGap(
  db: Db,
  keys: AuditKey,
  walk: Walk,
  pause?: () => Promise<void>,
): Promise<MeasuredGap | null> {
  if (!currentKey(keys)) return null;
  const isSigned = await authenticityCheck(db, keys);
  const digest = createHash('sha256');
  const [first] = await rowsAfterWalk(db, walk, 1);
  const problem = first ? verifyNext(walk, first, keys) : null;
  if (typeof problem !== 'string') return null;
  let seq = startAfter(walk);
  for (;;) {
    const rows = await rowsAfter(db, seq, BATCH);
    for (const row of rows) {
      if (isSigned(row)) return measured(walk, row, { problem, rows: digest.digest('hex') });
      digest.update(`${JSON.stringify(columnsOf(row))}\n`);
      seq = row.seq;
    }
    if (rows.length < BATCH) return null;
    await pause?.();
  }
}

function measured(
  { seq, hash }: Walk,
  row: AuditEventTable,
  { problem, rows }: { readonly problem: ChainProblem; readonly rows: string },
): MeasuredGap {
  const gap = { first: seq + 1, previous: hash, next: row.seq, following: row.hash, rows };
  return { gap, problem, after: walkAfter(row) };
}

function columnsOf(row: AuditEventTable): readonly unknown[] {
  const { seq, kind, change_id, version, from_state, to_state, body, prev_hash, hash } = row;
  return [seq, kind, change_id, version, from_state, to_state, body, prev_hash, hash];
}
