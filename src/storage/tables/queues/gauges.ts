import type { State } from '../../../changes/change.ts';
import { storedTrailError } from '../../audit/trail-errors.ts';
import { withAnswerLimit } from '../../engine/database-errors.ts';
import { toText } from '../../engine/portable.ts';
import type { Db } from '../schema.ts';

/** How many, and since when the oldest of them waits; null where there is none. */
export interface Gauge {
  readonly count: number;
  readonly since: Date | null;
}

export interface Gauges {
  readonly changes: ReadonlyMap<State, Gauge>;
  readonly outbox: Gauge;
  readonly inbox: Gauge;
  readonly digests: ReadonlyMap<string, number>;
  /** What was found wrong with the audit trail; null for nothing. */
  readonly trailProblem: string | null;
}

// What is over is counted as it ends; here is what somebody still waits for.
const OPEN: readonly State[] = ['pending', 'approved', 'executing', 'unknown'];

/** What lies in the database at this moment, the same whichever replica is asked. */
export async function readGauges(db: Db, now: Date): Promise<Gauges> {
  const [changes, outbox, inbox, digests, trailProblem] = await withAnswerLimit(
    Promise.all([
      openChanges(db),
      waiting(db, 'outbox', 'done_at', now),
      waiting(db, 'inbox', 'handled_at', now),
      digestStates(db),
      storedTrailError(db),
    ]),
  );
  return { changes, outbox, inbox, digests, trailProblem };
}

async function openChanges(db: Db): Promise<ReadonlyMap<State, Gauge>> {
  const rows = await db
    .selectFrom('change')
    .select((eb) => ['state', eb.fn.countAll().as('n'), eb.fn.min('created_at').as('oldest')])
    .where('state', 'in', OPEN)
    .groupBy('state')
    .execute();
  const found = new Map(rows.map(({ state, n, oldest }) => [state, levelOf(n, oldest)]));
  return new Map(OPEN.map((state) => [state, found.get(state) ?? { count: 0, since: null }]));
}

/** What is due; a reminder of tomorrow waits for nobody. */
async function waiting(
  db: Db,
  table: 'outbox' | 'inbox',
  done: 'done_at' | 'handled_at',
  now: Date,
): Promise<Gauge> {
  const row = await db
    // The two queues differ in the name of this column alone.
    .selectFrom(table as 'outbox')
    .select((eb) => [eb.fn.countAll().as('n'), eb.fn.min('not_before').as('oldest')])
    .where(done as 'done_at', 'is', null)
    .where('not_before', '<=', toText(now))
    .executeTakeFirstOrThrow();
  return levelOf(row.n, row.oldest);
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

function levelOf(n: string | number | bigint, oldest: string | null): Gauge {
  return { count: Number(n), since: oldest === null ? null : new Date(oldest) };
}
