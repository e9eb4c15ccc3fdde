import { setImmediate as yieldToOthers } from 'node:timers/promises';
import {
  auditHead,
  type Verification,
  type VerifyOptions,
  verifyChain,
} from '../../storage/audit/append.ts';
import { problemSentence } from '../../storage/audit/chain-problems.ts';
import {
  clearTrailError,
  storedTrailError,
  storeTrailError,
} from '../../storage/audit/trail-errors.ts';
import type { DecisionContext, Trail } from '../ports.ts';

export interface VerifiedTrail extends Trail {
  /** Verifies the last events; the whole trail where a problem was found before. */
  readonly verifyRecent: () => Promise<void>;
  /** Verifies the whole trail in small batches. Only a success here clears a stored problem. */
  readonly verifyAll: () => Promise<void>;
}

export type TrailContext = Pick<DecisionContext, 'database' | 'auditKey' | 'log' | 'now'> & {
  readonly messenger: Pick<DecisionContext['messenger'], 'notifyOperators'>;
};

const RECENT = 10_000;
// The event loop serves nothing else during a batch.
const BATCH = 250;

/** A modified trail may hide why a change was allowed, so that executions stop at any problem. */
export function createTrail(context: TrailContext): VerifiedTrail {
  const { database } = context;
  let problem: string | null = null;

  async function verify(range: VerifyOptions): Promise<Verification> {
    const verified = await verifyChain(database.db, context.auditKey, {
      batch: BATCH,
      pause: () => yieldToOthers(),
      ...range,
    });
    if (!verified.ok) {
      problem = problemSentence(verified.problem, verified.seq);
      await notifyOnce(context, problem);
    }
    return verified;
  }
  async function verifyAll(): Promise<void> {
    const verified = await verify({});
    if (!verified.ok) return;
    problem = null;
    await database.transaction(clearTrailError);
    context.log.info({ seq: verified.seq }, 'verified the whole audit trail');
  }
  return {
    problem: async (db) => problem ?? storedTrailError(db),
    writeCheckpoint: async () => {
      if (database.checkpoint) database.checkpoint.write(await auditHead(database.db));
    },
    verifyRecent: async () => {
      problem = await storedTrailError(database.db);
      if (problem === null) await verify({ last: RECENT });
      else await verifyAll();
    },
    verifyAll,
  };
}

/** The replica that stores the problem notifies the operators; all replicas stop. */
async function notifyOnce(context: TrailContext, problem: string): Promise<void> {
  const stored = await storedTrailError(context.database.db);
  context.log.error({ problem }, 'the audit trail does not match its hashes; executions stop');
  if (stored === problem) return;
  const isNew = await context.database.transaction((tx) => storeTrailError(tx, stored, problem));
  if (!isNew) return;
  const sentence =
    `The audit trail does not match its hashes. ${problem} Signalbox executes no change until an ` +
    'operator has checked it; queries still work. Run “npm run audit -- verify” for the same result.';
  await context.messenger.notifyOperators(sentence).catch((error: unknown) => {
    context.log.warn({ err: error }, 'operators were not notified of the broken audit trail');
  });
}

const NIGHT_UTC_HOUR = 2;

/** Wraps `work`, which then runs only in the first call after each 02:00 UTC. */
export function nightly(now: () => Date, work: () => Promise<void>): () => Promise<void> {
  const nightOf = (at: Date) =>
    new Date(at.getTime() - NIGHT_UTC_HOUR * 3_600_000).toISOString().slice(0, 10);
  let last = nightOf(now());
  return async () => {
    const night = nightOf(now());
    if (night === last) return;
    last = night;
    await work();
  };
}
