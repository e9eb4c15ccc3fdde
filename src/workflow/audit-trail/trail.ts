import { setImmediate as breathe } from 'node:timers/promises';
import { head, type Verified, type Verifying, verifyChain } from '../../storage/audit/append.ts';
import { problemSentence } from '../../storage/audit/chain-problems.ts';
import {
  clearTrailError,
  storedTrailError,
  storeTrailError,
} from '../../storage/audit/trail-errors.ts';
import type { Trail, WorkflowContext } from '../ports.ts';

export interface TrailWatch extends Trail {
  /** At the start, before anything is executed: the last events, or all after a finding. */
  readonly lookAtEnd: () => Promise<void>;
  /** All of it, while others go on working. */
  readonly lookAtAll: () => Promise<void>;
}

export type TrailContext = Pick<WorkflowContext, 'database' | 'auditKey' | 'log' | 'now'> & {
  readonly messenger: Pick<WorkflowContext['messenger'], 'notifyOperators'>;
};

const LAST = 10_000;
// Each batch holds up everybody else on the loop for as long as it takes.
const BATCH = 250;

/** A trail that was tampered with may hide why something was allowed: nothing runs on its word. */
export function createTrail(context: TrailContext): TrailWatch {
  const { database } = context;
  let trouble: string | null = null;

  async function look(how: Verifying): Promise<Verified> {
    const verified = await verifyChain(database.db, context.auditKey, {
      batch: BATCH,
      pause: () => breathe(),
      ...how,
    });
    if (!verified.ok) {
      trouble = problemSentence(verified.problem, verified.seq);
      await tellOnce(context, trouble);
    }
    return verified;
  }
  async function lookAtAll(): Promise<void> {
    const verified = await look({});
    if (!verified.ok) return;
    trouble = null;
    await database.transaction(clearTrailError);
    context.log.info({ seq: verified.seq }, 'the whole audit trail is as it was written');
  }
  return {
    trouble: async (db) => trouble ?? storedTrailError(db),
    mark: async () => {
      if (database.checkpoint) database.checkpoint.write(await head(database.db));
    },
    lookAtEnd: async () => {
      // What was found before is not forgotten by a restart: only the whole trail clears it.
      trouble = await storedTrailError(database.db);
      if (trouble === null) await look({ last: LAST });
      else await lookAtAll();
    },
    lookAtAll,
  };
}

/** Told by whichever replica finds it first; the others stop by what it noted. */
async function tellOnce(context: TrailContext, trouble: string): Promise<void> {
  const before = await storedTrailError(context.database.db);
  context.log.error({ trouble }, 'the audit trail is not as it was written: nothing is executed');
  if (before === trouble) return;
  const isNews = await context.database.transaction((tx) => storeTrailError(tx, before, trouble));
  if (!isNews) return;
  const sentence =
    `The audit trail is not as it was written. ${trouble} Nothing is executed until somebody ` +
    'has looked; reading goes on. “npm run audit -- verify” says the same.';
  await context.messenger.notifyOperators(sentence).catch((error: unknown) => {
    context.log.warn({ err: error }, 'nobody was told that the audit trail is broken');
  });
}

const NIGHT_UTC_HOUR = 2;

/** For a look every hour: due once in each night, in UTC, that begins while this process runs. */
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
