import { HOUR_MS } from '../../base/time.ts';
import type { ChangeId } from '../../domain/change.ts';
import { auditHead, lastSeq } from '../../log/old/append.ts';
import type { Walk } from '../../log/old/chain.ts';
import { enqueueOperatorsNotice } from '../../log/old/notices.ts';
import { announceRestore } from '../../log/old/restore-mark.ts';
import {
  clearTrailError,
  isMarkedBroken,
  lastTrailMark,
  recordTrailMark,
  storedTrailError,
} from '../../log/old/trail-marks.ts';
import { createVerifiedEvents } from '../../log/old/verified-events.ts';
import {
  type BrokenChain,
  findProblem,
  type Verification,
  type VerifyOptions,
} from '../../log/old/verify-chain.ts';
import type { Db } from '../../storage/old/database.ts';
import { PACE, reportBrokenTrail, type TrailContext } from './broken-trail.ts';
import type { Trail } from './ports.ts';

export interface VerifiedTrail extends Trail {
  /** Verifies the last events; the whole trail where a problem was found before. */
  readonly verifyRecent: () => Promise<void>;
}

const RECENT = 10_000;

/** A modified trail may hide why a change was allowed, so that executions stop at any problem. */
export function createTrail(context: TrailContext): VerifiedTrail {
  const { database } = context;
  let verified = createVerifiedEvents(context.auditKey);
  // The last verified event.
  let end: Walk | null = null;
  let isCut = false;
  let last: Promise<void> = Promise.resolve();
  let found: { readonly problem: string; readonly seq: number } | null = null;

  async function verify(range: VerifyOptions): Promise<Verification> {
    const options = { ...PACE, onEvent: verified.add, ...range };
    const result = await findProblem(database.db, context.auditKey, options);
    if (result.ok) end = result.walk;
    else await stop(result);
    return result;
  }
  async function stop(broken: BrokenChain): Promise<void> {
    const seq = await lastSeq(database.db);
    found = { problem: await reportBrokenTrail(context, broken), seq };
    // A trail that was cut and continued looks intact to a process that did not read the lost events.
    if (broken.problem === 'anchor-differs') {
      isCut = true;
      await database.transaction((tx) => announceRestore(tx, context.now()));
    }
  }
  /** Another replica verified the trail after this one found a problem: the signed mark says so. */
  async function isRepaired(db: Db, seq: number): Promise<boolean> {
    const mark = await lastTrailMark(db, context.auditKey);
    return mark?.kind === 'trail-verified' && mark.seq > seq;
  }
  async function currentProblem(db: Db): Promise<string | null> {
    const stored = await storedTrailError(db);
    if (stored !== null) return stored;
    if (found !== null && !isCut && (await isRepaired(db, found.seq))) found = null;
    if (found !== null) return found.problem;
    return (await isMarkedBroken(db, context.auditKey)) ? REMOVED : null;
  }
  async function verifyAll(): Promise<void> {
    const before = verified;
    verified = createVerifiedEvents(context.auditKey);
    const result = await verify({});
    // Only the next start stops the open changes of a cut trail.
    if (!result.ok || isCut) {
      verified = before;
      return;
    }
    found = null;
    const wasBroken = await isMarkedBroken(database.db, context.auditKey);
    await database.transaction(async (tx) => {
      await clearTrailError(tx);
      const mark = { problem: null, at: context.now() };
      if (wasBroken) await recordTrailMark(tx, context.auditKey, 'trail-verified', mark);
    });
    context.log.info({ seq: result.seq }, 'verified the whole audit trail');
  }
  /** Verifies new events, and compares the stored events of the change and of all freezes. */
  async function follow(id: ChangeId): Promise<void> {
    if (end) await verify({ after: end });
    const compare = [verified.compareFreezes, (db: Db) => verified.compareChange(db, id)];
    for (const each of compare) {
      if (found !== null) return;
      const { isMissing, verifyFrom } = await each(database.db);
      if (verifyFrom !== null)
        await verify({ last: (await lastSeq(database.db)) - verifyFrom + 1 });
      if (isMissing) await verifyAll();
    }
  }
  return {
    problem: currentProblem,
    writeCheckpoint: async () => {
      if (database.checkpoint) database.checkpoint.write(await auditHead(database.db));
    },
    verifyRecent: async () => {
      const problem = await storedTrailError(database.db);
      const isRemoved = problem === null && (await isMarkedBroken(database.db, context.auditKey));
      if (isRemoved) await reportRemovedMark(context);
      if (problem === null && !isRemoved) await verify({ last: RECENT });
      else await verifyAll();
    },
    verifyAll,
    follow: (id) => {
      const next = last.then(() => follow(id));
      last = next.catch(() => undefined);
      return next;
    },
    isRevertPlanned: (id) => verified.isRevertPlanned(id),
  };
}

const REMOVED = 'The record of a broken audit trail was deleted from the database.';

async function reportRemovedMark({ database, log, now }: TrailContext): Promise<void> {
  log.error('the record of a broken audit trail was deleted; the whole trail is verified');
  const sentence =
    'The record of a broken audit trail was deleted from the database, not by Signalbox. ' +
    'Signalbox verifies the whole trail now. Check who can write to the database.';
  await database.transaction((tx) => enqueueOperatorsNotice(tx, sentence, now()));
}

const NIGHT_UTC_HOUR = 2;

/** Wraps `work`, which then runs only in the first call after each 02:00 UTC. */
export function nightly(now: () => Date, work: () => Promise<void>): () => Promise<void> {
  const nightOf = (at: Date) =>
    new Date(at.getTime() - NIGHT_UTC_HOUR * HOUR_MS).toISOString().slice(0, 10);
  let last = nightOf(now());
  return async () => {
    const night = nightOf(now());
    if (night === last) return;
    last = night;
    await work();
  };
}
