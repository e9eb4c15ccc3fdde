import type { Head } from '../../storage/old/checkpoint.ts';
import type { AuditEventTable, Db } from '../../storage/old/schema.ts';
import { type AcceptedGap, acceptedGaps } from './accepted-gaps.ts';
import { rowsAfter } from './append.ts';
import { type ChainProblem, verifyNext, type Walk, walkAfter } from './chain.ts';
import { chainStart } from './chain-start.ts';
import { lastCheckpoint } from './checkpoints.ts';
import { gapId, measureGap, rowsAfterWalk } from './gap.ts';
import type { AuditKey } from './key-ring.ts';

export interface VerifyOptions {
  /** Rows in memory at a time. */
  readonly batch?: number;
  readonly onProgress?: (seq: number) => void;
  /**
   * Verifies only this many of the last events; earlier ones are assumed to be valid. The whole chain
   * is verified where a problem is found among them.
   */
  readonly last?: number;
  /** Awaited after each batch, so that other work of the process continues. */
  readonly pause?: () => Promise<void>;
  /** An event that was verified before, after which the verification begins. */
  readonly after?: Walk;
  /** Called with each valid event. */
  readonly onEvent?: (row: AuditEventTable) => void;
  /** A head that was stored elsewhere: it detects a tail that was cut together with the head. */
  readonly anchor?: Head;
}

export type Verification =
  | {
      readonly ok: true;
      readonly seq: number;
      /** The accepted gaps that the verification passed; missing if there was none. */
      readonly accepted?: readonly AcceptedGap[];
    }
  | { readonly ok: false; readonly seq: number; readonly problem: ChainProblem };

/** The first problem, with the valid end of the chain before it. */
export type BrokenChain = Verification & { readonly ok: false; readonly walk: Walk };

/** A chain without a problem, with its end. */
type IntactChain = Verification & { readonly ok: true; readonly walk: Walk };

type Finding = IntactChain | BrokenChain;

/** Verifies the chain in batches; returns the first event that was modified. */
export async function verifyChain(
  db: Db,
  keys: AuditKey,
  options: VerifyOptions = {},
): Promise<Verification> {
  const found = await findProblem(db, keys, options);
  const { walk: _, ...verified } = found;
  return verified;
}

/**
 * Verifies the chain in batches, and passes exactly the gaps that two operators accepted. Returns the
 * first other problem with the valid part before it, from which its gap is measured.
 */
export async function findProblem(
  db: Db,
  keys: AuditKey,
  options: VerifyOptions = {},
): Promise<Finding> {
  const { last, after, ...whole } = options;
  if (after && !(await hasEvent(db, after)))
    return findProblem(db, keys, { ...whole, anchor: after });
  const from = after ?? (last === undefined ? null : await startOfLast(db, keys, last));
  if (!from) return verifyWhole(db, keys, whole);
  const found = await walkFrom(db, keys, { from, end: await headAndLast(db), options });
  // The event before the first may lie in an accepted gap, which is only known from its beginning.
  return found.ok ? found : verifyWhole(db, keys, whole);
}

async function verifyWhole(db: Db, keys: AuditKey, options: VerifyOptions): Promise<Finding> {
  const { from, pass, ok } = await chainStart(db, keys);
  const end = await headAndLast(db);
  const found = await walkFrom(db, keys, { from, end, options, pass });
  const result = found.ok && !ok ? problemAt(from, (pass ?? from).seq, 'archive-differs') : found;
  if (result.ok) return result;
  // An archive may have started, or deleted archived events, meanwhile.
  const again = await chainStart(db, keys);
  return again.from.seq > from.seq ? verifyWhole(db, keys, options) : result;
}

interface Range {
  readonly from: Walk;
  readonly end: Head & { readonly last: number };
  readonly options: VerifyOptions;
  /** The walk must pass this event. */
  readonly pass?: Head | null;
}

async function walkFrom(db: Db, keys: AuditKey, range: Range): Promise<Finding> {
  const { from, end, options, pass } = range;
  const { batch = 1_000, onProgress, onEvent, pause, anchor } = options;
  const accepted: AcceptedGap[] = [];
  let walk = from;
  if (anchor?.seq === from.seq && anchor.hash !== from.hash) return anchorDiffers(from, anchor);
  while (walk.seq < end.last) {
    const rows = await rowsAfterWalk(db, walk, Math.min(batch, end.last - walk.seq));
    for (const row of rows) {
      const next = verifyNext(walk, row, keys);
      if (typeof next === 'string') {
        const passed = await passGap(db, keys, walk, pause);
        if (!passed) return problemAt(walk, walk.seq + 1, next);
        if (isMissing(pass, walk, passed.after))
          return problemAt(walk, pass.seq, 'archive-differs');
        if (isMissing(anchor, walk, passed.after)) return anchorDiffers(walk, anchor);
        accepted.push(passed.accepted);
        walk = passed.after;
        break;
      }
      if (isMissing(pass, walk, next)) return problemAt(walk, pass.seq, 'archive-differs');
      if (isMissing(anchor, walk, next)) return anchorDiffers(walk, anchor);
      walk = next;
      onEvent?.(row);
    }
    if (rows.length === 0) return problemAt(walk, walk.seq + 1, 'event-missing');
    onProgress?.(walk.seq);
    await pause?.();
  }
  if (walk.seq !== end.seq || walk.hash !== end.hash || end.last !== end.seq) {
    return problemAt(walk, Math.min(walk.seq, end.seq) + 1, 'head-differs');
  }
  if (anchor && anchor.seq > walk.seq) return anchorDiffers(walk, anchor);
  return { ok: true, seq: walk.seq, walk, ...(accepted.length > 0 && { accepted }) };
}

/** Returns where the chain continues if the operators accepted the gap that begins here, else null. */
async function passGap(db: Db, keys: AuditKey, walk: Walk, pause?: () => Promise<void>) {
  const all = await acceptedGaps(db, keys);
  if (!all.some(({ gap }) => gap.first === walk.seq + 1)) return null;
  const found = await measureGap(db, keys, walk, pause);
  const accepted = found && all.find(({ gap }) => gapId(gap) === gapId(found.gap));
  return accepted ? { after: found.after, accepted } : null;
}

/** Whether the anchor is at an event that this step read with another hash, or skipped. */
function isMissing(anchor: Head | null | undefined, before: Walk, after: Walk): anchor is Head {
  if (!anchor || anchor.seq <= before.seq || anchor.seq > after.seq) return false;
  return anchor.seq < after.seq || anchor.hash !== after.hash;
}

async function hasEvent(db: Db, { seq, hash }: Walk): Promise<boolean> {
  const [row] = seq === 0 ? [] : await rowsAfter(db, seq - 1, 1);
  return seq === 0 || (row?.seq === seq && row.hash === hash);
}

/** Returns null where the whole chain must be read: an archived event is not assumed to be valid. */
async function startOfLast(db: Db, keys: AuditKey, last: number): Promise<Walk | null> {
  const seq = (await headAndLast(db)).last - last;
  const archived = (await lastCheckpoint(db, keys))?.last ?? 0;
  if (seq <= archived) return null;
  const [row] = await rowsAfter(db, seq - 1, 1);
  // If that event is missing, the whole chain is read to find where it breaks.
  return row?.seq === seq ? walkAfter(row) : null;
}

function problemAt(walk: Walk, seq: number, problem: ChainProblem): Finding {
  return { ok: false, seq, problem, walk };
}

function anchorDiffers(walk: Walk, { seq }: Head): Finding {
  return problemAt(walk, seq, 'anchor-differs');
}

// Not the hash of an empty chain, so that a deleted head is detected.
const NO_HEAD = '';

// One statement, so that concurrent writers do not look like tampering.
async function headAndLast(db: Db): Promise<Head & { last: number }> {
  const row = await db
    .selectFrom('audit_head')
    .select(['seq', 'hash'])
    .select((eb) =>
      eb
        .selectFrom('audit_event')
        .select((e) => e.fn.max('seq').as('m'))
        .as('last'),
    )
    .where('id', '=', 1)
    .executeTakeFirst();
  return { seq: row?.seq ?? 0, hash: row?.hash ?? NO_HEAD, last: row?.last ?? 0 };
}
