import type { State } from '../../../domain/change.ts';
import { mayExecute } from '../../../log/old/configurations.ts';
import { storedTrailError } from '../../../log/old/trail-marks.ts';
import { withAnswerLimit } from '../../errors.ts';
import { toText } from '../../old/portable.ts';
import type { Db } from '../../old/schema.ts';

/** `since` is the time of the oldest entry; null if there is none. */
export interface Gauge {
  readonly count: number;
  readonly since: Date | null;
}

export interface Gauges {
  readonly changes: ReadonlyMap<State, Gauge>;
  readonly outbox: Gauge;
  /** Cards whose first delivery was tried; `since` is the time of the first attempt. */
  readonly undeliveredCards: Gauge;
  readonly inbox: Gauge;
  readonly digests: ReadonlyMap<string, number>;
  /** The problem that the last verification of the audit trail found, or null. */
  readonly trailProblem: string | null;
  /** Another replica uses a newer configuration than this process. */
  readonly isOutdated: boolean;
}

// Ended changes are counted when they end, by metrics.
const OPEN: readonly State[] = ['pending', 'approved', 'executing', 'unknown'];

/** Reads the gauges, which are the same on every replica with this configuration. */
export async function readGauges(db: Db, now: Date, configuration: string): Promise<Gauges> {
  const [changes, outbox, undeliveredCards, inbox, digests, trailProblem, executes] =
    await withAnswerLimit(
      Promise.all([
        openChanges(db),
        undeliveredMessages(db, now),
        undelivered(db),
        waitingClicks(db, now),
        digestStates(db),
        storedTrailError(db),
        mayExecute(db, configuration),
      ]),
    );
  const isOutdated = !executes;
  return { changes, outbox, undeliveredCards, inbox, digests, trailProblem, isOutdated };
}

async function openChanges(db: Db): Promise<ReadonlyMap<State, Gauge>> {
  const rows = await db
    .selectFrom('change')
    .select((eb) => ['state', eb.fn.countAll().as('n'), eb.fn.min('created_at').as('oldest')])
    .where('state', 'in', OPEN)
    .groupBy('state')
    .execute();
  const found = new Map(rows.map(({ state, n, oldest }) => [state, gaugeOf(n, oldest)]));
  return new Map(OPEN.map((state) => [state, found.get(state) ?? { count: 0, since: null }]));
}

async function waitingClicks(db: Db, now: Date): Promise<Gauge> {
  const row = await db
    .selectFrom('inbox')
    .select((eb) => [eb.fn.countAll().as('n'), eb.fn.min('not_before').as('oldest')])
    .where('handled_at', 'is', null)
    .where('not_before', '<=', toText(now))
    .executeTakeFirstOrThrow();
  return gaugeOf(row.n, row.oldest);
}

/**
 * Counts due messages and those that wait for a retry, which has moved their due time; a reminder for
 * tomorrow does not count. A message that was tried is as old as its first attempt.
 */
async function undeliveredMessages(db: Db, now: Date): Promise<Gauge> {
  const row = await db
    .selectFrom('outbox')
    .select((eb) => [
      eb.fn.countAll().as('n'),
      eb.fn.min(eb.fn.coalesce('first_tried_at', 'not_before')).as('oldest'),
    ])
    .where('done_at', 'is', null)
    .where((eb) =>
      eb.or([eb('not_before', '<=', toText(now)), eb('first_tried_at', 'is not', null)]),
    )
    .executeTakeFirstOrThrow();
  return gaugeOf(row.n, row.oldest);
}

/** A retry moves the due time of a message, so that only the first attempt shows its age. */
async function undelivered(db: Db): Promise<Gauge> {
  const row = await db
    .selectFrom('outbox')
    .select((eb) => [eb.fn.countAll().as('n'), eb.fn.min('first_tried_at').as('oldest')])
    .where('done_at', 'is', null)
    .where('kind', 'in', ['card', 'card-repost'])
    .where('first_tried_at', 'is not', null)
    .executeTakeFirstOrThrow();
  return gaugeOf(row.n, row.oldest);
}

async function digestStates(db: Db): Promise<ReadonlyMap<string, number>> {
  const rows = await db
    .selectFrom('digest')
    .select((eb) => ['state', eb.fn.countAll().as('n')])
    .groupBy('state')
    .execute();
  const states = ['sending', 'posted', 'missed', 'unknown'];
  const found = new Map(rows.map(({ state, n }) => [String(state), Number(n)]));
  return new Map(states.map((state) => [state, found.get(state) ?? 0]));
}

function gaugeOf(n: string | number | bigint, oldest: string | null): Gauge {
  return { count: Number(n), since: oldest === null ? null : new Date(oldest) };
}
