import { setImmediate as breathe } from 'node:timers/promises';
import { head, type Verified, type Verifying, verifyChain } from '../../storage/audit/append.ts';
import { problemSentence } from '../../storage/audit/chain-problems.ts';
import { dropTrouble, noteTrouble, standingTrouble } from '../../storage/audit/trail-errors.ts';
import type { Db } from '../../storage/tables/schema.ts';
import type { World } from '../ports.ts';

/** What executions ask of the audit trail before they send anything. */
export interface Trail {
  /**
   * Why nothing is executed: the trail is not as it was written, as this replica or another one
   * found. Null: it is, as far as anybody looked. Inside a transaction it is asked on that.
   */
  readonly trouble: (db: Db) => Promise<string | null>;
  /** Notes the end of the trail outside the database, where there is such a place. */
  readonly mark: () => Promise<void>;
}

export interface TrailWatch extends Trail {
  /** At the start, before anything is executed: the last events, or all after a finding. */
  readonly lookAtEnd: () => Promise<void>;
  /** All of it, while others go on working. */
  readonly lookAtAll: () => Promise<void>;
}

export type TrailWorld = Pick<World, 'database' | 'auditKey' | 'log' | 'now'> & {
  readonly messenger: Pick<World['messenger'], 'tellKeepers'>;
};

const LAST = 10_000;
// Each batch holds up everybody else on the loop for as long as it takes.
const BATCH = 250;

/** A trail that was tampered with may hide why something was allowed: nothing runs on its word. */
export function createTrail(world: TrailWorld): TrailWatch {
  const { database } = world;
  let trouble: string | null = null;

  async function look(how: Verifying): Promise<Verified> {
    const verified = await verifyChain(database.db, world.auditKey, {
      batch: BATCH,
      pause: () => breathe(),
      ...how,
    });
    if (!verified.ok) {
      trouble = problemSentence(verified.problem, verified.seq);
      await tellOnce(world, trouble);
    }
    return verified;
  }
  async function lookAtAll(): Promise<void> {
    const verified = await look({});
    if (!verified.ok) return;
    trouble = null;
    await database.transaction(dropTrouble);
    world.log.info({ seq: verified.seq }, 'the whole audit trail is as it was written');
  }
  return {
    trouble: async (db) => trouble ?? standingTrouble(db),
    mark: async () => {
      if (database.checkpoint) database.checkpoint.write(await head(database.db));
    },
    lookAtEnd: async () => {
      // What was found before is not forgotten by a restart: only the whole trail clears it.
      trouble = await standingTrouble(database.db);
      if (trouble === null) await look({ last: LAST });
      else await lookAtAll();
    },
    lookAtAll,
  };
}

/** Told by whichever replica finds it first; the others stop by what it noted. */
async function tellOnce(world: TrailWorld, trouble: string): Promise<void> {
  const before = await standingTrouble(world.database.db);
  world.log.error({ trouble }, 'the audit trail is not as it was written: nothing is executed');
  if (before === trouble) return;
  const isNews = await world.database.transaction((tx) => noteTrouble(tx, before, trouble));
  if (!isNews) return;
  const sentence =
    `The audit trail is not as it was written. ${trouble} Nothing is executed until somebody ` +
    'has looked; reading goes on. “npm run audit -- verify” says the same.';
  await world.messenger.tellKeepers(sentence).catch((error: unknown) => {
    world.log.warn({ err: error }, 'nobody was told that the audit trail is broken');
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
