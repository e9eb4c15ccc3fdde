import { createHash, randomBytes } from 'node:crypto';
import { createReadStream, linkSync, lstatSync, rmSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { z } from 'zod';
import { type ChangeId, STATES } from '../../domain/change.ts';
import { hasNoSpace } from '../../storage/errors.ts';
import type { Head } from '../../storage/old/checkpoint.ts';
import type { AuditEventTable, Db } from '../../storage/old/schema.ts';
import { createPrivately } from '../../storage/sqlite.ts';
import type { Walk } from './chain.ts';
import { segmentLine } from './checkpoints.ts';
import { rowsAfterWalk } from './gap.ts';

const BATCH = 1_000;

/** A written file: its lines, and SHA-256 over its bytes. */
export interface SegmentFile {
  readonly count: number;
  readonly sha256: string;
}

/**
 * Writes the events after a walk up to `last` to `path`, one JSON object per line. The file gets its
 * name only when it is complete and on the disk; only its owner can read it. An existing file is never
 * overwritten: one with the same bytes is used, another one throws.
 */
export async function writeSegment(
  db: Db,
  { after, last, folder, file }: { after: Walk; last: number; folder: string; file: string },
): Promise<SegmentFile> {
  const path = join(folder, file);
  const partial = `${path}.${randomBytes(4).toString('hex')}.partial`;
  try {
    const written = await writeRows(db, { after, last, path: partial });
    await keep(partial, path, written);
    await syncFolder(folder);
    return written;
  } catch (error) {
    if (!hasNoSpace(error)) throw error;
    throw new Error(`The disk of ${path} is full: free some space. Nothing was deleted`, {
      cause: error,
    });
  } finally {
    rmSync(partial, { force: true });
  }
}

async function writeRows(
  db: Db,
  { after, last, path }: { after: Walk; last: number; path: string },
): Promise<SegmentFile> {
  createPrivately(path);
  const handle = await open(path, 'a', 0o600);
  const digest = createHash('sha256');
  let count = 0;
  try {
    for await (const rows of batches(db, after, last)) {
      const text = rows.map((row) => `${segmentLine(row)}\n`).join('');
      digest.update(text);
      await handle.appendFile(text);
      count += rows.length;
    }
    await handle.sync();
  } finally {
    await handle.close();
  }
  return { count, sha256: digest.digest('hex') };
}

async function* batches(db: Db, after: Walk, last: number) {
  let walk = after;
  for (;;) {
    const rows = await rowsAfterWalk(db, walk, BATCH);
    const wanted = rows.filter(({ seq }) => seq <= last);
    if (wanted.length > 0) yield wanted;
    const end = wanted.at(-1);
    if (!end || wanted.length < BATCH) return;
    walk = { ...walk, seq: end.seq };
  }
}

// A link fails where the name exists, on every file system that has links.
async function keep(partial: string, path: string, { sha256 }: SegmentFile): Promise<void> {
  try {
    linkSync(partial, path);
  } catch (error) {
    if (!isExisting(error)) throw error;
    if ((await hashOf(path)) === sha256) return;
    throw new Error(
      `${path} exists already with other contents, and no file is overwritten. Move it to another folder`,
      { cause: error },
    );
  }
}

function isExisting(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'EEXIST';
}

async function syncFolder(folder: string): Promise<void> {
  const handle = await open(folder, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

/** Returns SHA-256 over a file; null if there is no such file. Throws with its path where it cannot be read. */
export async function hashOf(path: string): Promise<string | null> {
  if (!lstatSync(path, { throwIfNoEntry: false })?.isFile()) return null;
  const digest = createHash('sha256');
  try {
    for await (const part of createReadStream(path)) digest.update(part);
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : 'unknown error';
    const fix = 'Check the disk, and run the command as the owner of the file';
    throw new Error(`${path} cannot be read (${code}). ${fix}`, { cause: error });
  }
  return digest.digest('hex');
}

const Line = z.strictObject({
  seq: z.int(),
  kind: z.string(),
  change_id: z.custom<ChangeId>((value) => typeof value === 'string').nullable(),
  version: z.int().nullable(),
  from_state: z.enum(STATES).nullable(),
  to_state: z.enum(STATES).nullable(),
  body: z.string(),
  prev_hash: z.string(),
  hash: z.string(),
});

/** Yields the events of a segment. Throws with the number of the first line that is not an event. */
export async function* segmentRows(path: string): AsyncGenerator<AuditEventTable> {
  let number = 0;
  for await (const line of createInterface({ input: createReadStream(path) })) {
    number += 1;
    yield eventOf(line, `${path}, line ${number}`);
  }
}

function eventOf(line: string, where: string): AuditEventTable {
  try {
    return Line.parse(JSON.parse(line));
  } catch (error) {
    throw new Error(`${where} is not an audit event`, { cause: error });
  }
}

/** Returns the name of the segment with these events. */
export function segmentName(installation: string, first: number, { seq }: Head): string {
  return `audit-${installation}-${first}-${seq}.jsonl`;
}
