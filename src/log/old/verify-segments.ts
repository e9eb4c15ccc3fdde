import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { GENESIS } from '../../storage/old/001-initial.ts';
import type { Head } from '../../storage/old/checkpoint.ts';
import type { Db } from '../../storage/old/schema.ts';
import { type AcceptedGap, acceptedGaps } from './accepted-gaps.ts';
import { verifyNext, type Walk, walkAfter } from './chain.ts';
import { problemSentence } from './chain-problems.ts';
import { type ArchiveCheckpoint, archiveCheckpoints, segmentLine } from './checkpoints.ts';
import { type AuditKey, NO_KEY } from './key-ring.ts';
import { hashOf, segmentRows } from './segment.ts';

type SegmentsVerified =
  | { readonly ok: true; readonly events: number; readonly files: number }
  | { readonly ok: false; readonly sentence: string };

interface SegmentsSource {
  readonly folder: string;
  /** A head that was stored elsewhere; compared where it lies in a segment. */
  readonly anchor?: Head | null;
}

/** Verifies the archived events from event 1 on, in the files that the signed checkpoints name. */
export async function verifySegments(
  db: Db,
  keys: AuditKey,
  { folder, anchor = null }: SegmentsSource,
): Promise<SegmentsVerified> {
  const checkpoints = await archiveCheckpoints(db, keys);
  const gaps = await acceptedGaps(db, keys);
  let walk: Walk = { seq: 0, hash: GENESIS, keyId: NO_KEY };
  for (const checkpoint of checkpoints) {
    const context = { keys, gaps, anchor, path: join(folder, checkpoint.file) };
    const next = await verifySegment(walk, checkpoint, context);
    if (typeof next === 'string') return { ok: false, sentence: next };
    walk = next;
  }
  return { ok: true, events: walk.seq, files: checkpoints.length };
}

interface SegmentContext {
  readonly keys: AuditKey;
  readonly gaps: readonly AcceptedGap[];
  readonly anchor: Head | null;
  readonly path: string;
}

/** Returns the walk after a segment, or a sentence with its first problem. */
export async function verifySegment(
  before: Walk,
  checkpoint: Omit<ArchiveCheckpoint, 'seq' | 'kept' | 'before' | 'installation'>,
  context: SegmentContext,
): Promise<Walk | string> {
  const { path } = context;
  const name = `The segment ${checkpoint.file}`;
  const events = `events ${checkpoint.first} to ${checkpoint.last}`;
  const sha256 = await hashOf(path);
  if (sha256 === null) return `${name} is missing: it has the ${events}.`;
  if (sha256 !== checkpoint.sha256) {
    return `${name} was modified or truncated: its SHA-256 is ${sha256}, not ${checkpoint.sha256}.`;
  }
  if (before.seq !== checkpoint.first - 1 || before.hash !== checkpoint.previous) {
    return `${name} does not follow event ${before.seq}: a checkpoint is missing.`;
  }
  const walk = await walkSegment(before, context);
  if (typeof walk === 'string') return `${name}: ${walk}`;
  const isEnd = walk.seq === checkpoint.last && walk.hash === checkpoint.lastHash;
  return isEnd ? walk : `${name} does not end at event ${checkpoint.last}.`;
}

async function walkSegment(
  before: Walk,
  { keys, gaps, anchor, path }: SegmentContext,
): Promise<Walk | string> {
  let walk = before;
  let gap: OpenGap | null = null;
  for await (const row of segmentRows(path)) {
    const next: Walk | ReturnType<typeof verifyNext> = gap
      ? 'event-missing'
      : verifyNext(walk, row, keys);
    if (typeof next !== 'string') {
      if (anchor?.seq === row.seq && anchor.hash !== row.hash)
        return problemSentence('anchor-differs', row.seq);
      walk = next;
      continue;
    }
    gap ??= openGap(gaps, walk);
    if (!gap) return problemSentence(next, walk.seq + 1);
    const { accepted, digest } = gap;
    if (row.seq === accepted.gap.next && row.hash === accepted.gap.following) {
      if (digest.digest('hex') !== accepted.gap.rows) return problemSentence(next, walk.seq + 1);
      if (anchor && anchor.seq > walk.seq && anchor.seq < row.seq)
        return problemSentence('anchor-differs', anchor.seq);
      walk = walkAfter(row);
      gap = null;
    } else {
      digest.update(`${JSON.stringify(Object.values(JSON.parse(segmentLine(row))))}\n`);
    }
  }
  return gap ? problemSentence('event-missing', walk.seq + 1) : walk;
}

interface OpenGap {
  readonly accepted: AcceptedGap;
  readonly digest: ReturnType<typeof createHash>;
}

function openGap(gaps: readonly AcceptedGap[], { seq, hash }: Walk): OpenGap | null {
  const accepted = gaps.find(({ gap }) => gap.first === seq + 1 && gap.previous === hash);
  return accepted ? { accepted, digest: createHash('sha256') } : null;
}
