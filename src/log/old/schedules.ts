import type { Selectable } from 'kysely';
import type { ChangeId } from '../../domain/change.ts';
import { compileOnce } from '../../storage/old/compile-once.ts';
import { isInList, type ListParameter, listParameter } from '../../storage/old/lists.ts';
import { toDate, toText } from '../../storage/old/portable.ts';
import { onPostgres } from '../../storage/old/postgres.ts';
import type { Db, ScheduleRunTable, ScheduleTable, Tx } from '../../storage/old/schema.ts';
import { readInTurn } from '../../storage/old/share-reads.ts';

/** A schedule as its row has it. Whether it is paused or has ended, the audit trail decides. */
export interface StoredSchedule {
  /** The id of the change that created the schedule. */
  readonly id: ChangeId;
  /** The id of the service. */
  readonly service: string;
  /** Null: it has ended. */
  readonly nextAt: Date | null;
  readonly until: Date;
  readonly createdAt: Date;
  readonly endedAt: Date | null;
}

/** An occurrence of a schedule that was handled: as a change, or skipped with a reason. */
export interface ScheduleRun {
  readonly schedule: ChangeId;
  readonly occurrence: Date;
  readonly action: 'start' | 'stop';
  readonly change: ChangeId | null;
  readonly skipped: string | null;
  readonly at: Date;
}

type NewSchedule = Omit<StoredSchedule, 'endedAt'>;

/** Throws if the service has a current schedule: end that one before. */
export async function insertSchedule(tx: Tx, schedule: NewSchedule): Promise<void> {
  const { id, service, nextAt, until, createdAt } = schedule;
  const times = { next_at: toText(nextAt), until_at: toText(until), created_at: toText(createdAt) };
  await tx
    .insertInto('service_schedule')
    .values({ id, service, ...times, ended_at: null })
    .execute();
}

export async function hasSchedule(db: Db, id: ChangeId): Promise<boolean> {
  const query = db.selectFrom('service_schedule').select('id').where('id', '=', id);
  return (await query.executeTakeFirst()) !== undefined;
}

/** Returns the schedules that have not ended; with a service, the one of that service. */
export async function currentSchedules(db: Db, service?: string): Promise<StoredSchedule[]> {
  const rows = await db
    .selectFrom('service_schedule')
    .selectAll()
    .where('ended_at', 'is', null)
    .$if(service !== undefined, (query) => query.where('service', '=', service ?? ''))
    .orderBy('created_at')
    .orderBy('id')
    .execute();
  return rows.map(scheduleFrom);
}

/** Loads a schedule and locks its row until the transaction ends. */
export async function lockSchedule(tx: Tx, id: ChangeId): Promise<StoredSchedule | null> {
  const row = await tx
    .selectFrom('service_schedule')
    .selectAll()
    .where('id', '=', id)
    .$if(onPostgres(tx), (query) => query.forUpdate())
    .executeTakeFirst();
  return row ? scheduleFrom(row) : null;
}

/** Returns the ids of the schedules to handle now, those that wait longest first. */
export async function dueSchedules(
  db: Db,
  now: Date,
  { limit, except }: { readonly limit: number; readonly except: readonly ChangeId[] },
): Promise<ChangeId[]> {
  const rows = await readInTurn(db, due.with(db, toText(now), listParameter(db, except), limit));
  return rows.map(({ id }) => id);
}

const due = compileOnce((db: Db, at: string, except: ListParameter, limit: number) =>
  db
    .selectFrom('service_schedule')
    .select('id')
    .where('next_at', 'is not', null)
    .where('next_at', '<=', at)
    .where((eb) => eb.not(isInList(db, eb.ref('id'), except)))
    .orderBy('next_at')
    .limit(limit),
);

export async function setNextAt(tx: Tx, id: ChangeId, nextAt: Date): Promise<void> {
  const next = { next_at: toText(nextAt) };
  await tx
    .updateTable('service_schedule')
    .set(next)
    .where('id', '=', id)
    .where('ended_at', 'is', null)
    .execute();
}

/** Returns false if the schedule has ended before. */
export async function markEnded(tx: Tx, id: ChangeId, at: Date): Promise<boolean> {
  const ended = await tx
    .updateTable('service_schedule')
    .set({ ended_at: toText(at), next_at: null })
    .where('id', '=', id)
    .where('ended_at', 'is', null)
    .returning('id')
    .execute();
  return ended.length > 0;
}

/** Returns false if this occurrence of the schedule was handled before. */
export async function insertRun(tx: Tx, run: ScheduleRun): Promise<boolean> {
  const { schedule, occurrence, action, change, skipped, at } = run;
  const times = { occurrence: toText(occurrence), at: toText(at) };
  const inserted = await tx
    .insertInto('schedule_run')
    .values({ schedule_id: schedule, action, change_id: change, skipped, ...times })
    .onConflict((conflict) => conflict.columns(['schedule_id', 'occurrence']).doNothing())
    .returning('action')
    .execute();
  return inserted.length > 0;
}

/** Returns the last handled occurrence of each of these schedules that had one. */
export async function lastRuns(
  db: Db,
  ids: readonly ChangeId[],
): Promise<ReadonlyMap<ChangeId, ScheduleRun>> {
  if (ids.length === 0) return new Map();
  const rows = await db
    .selectFrom('service_schedule as schedule')
    .innerJoin('schedule_run as run', (join) =>
      join.onRef('run.schedule_id', '=', 'schedule.id').on('run.occurrence', '=', (eb) =>
        eb
          .selectFrom('schedule_run as each')
          .select((of) => of.fn.max('each.occurrence').as('last'))
          .whereRef('each.schedule_id', '=', 'schedule.id'),
      ),
    )
    .where('schedule.id', 'in', ids)
    .selectAll('run')
    .execute();
  return new Map(rows.map((row) => [row.schedule_id, runFrom(row)]));
}

/**
 * Returns the last change of a target that was sent since a time and is no run of a schedule; null if
 * there is none. An unknown outcome counts: the request may have been applied.
 */
export async function manualChangeSince(
  db: Db,
  targetKey: string,
  since: Date,
): Promise<ChangeId | null> {
  const found = await db
    .selectFrom('change')
    .select('id')
    .where('target_key', '=', targetKey)
    .where('state', 'in', ['succeeded', 'unknown'])
    .where('ended_at', '>=', toText(since))
    .where(({ not, exists, selectFrom }) =>
      not(
        exists(selectFrom('schedule_run').select('action').whereRef('change_id', '=', 'change.id')),
      ),
    )
    .orderBy('ended_at', 'desc')
    .limit(1)
    .executeTakeFirst();
  return found?.id ?? null;
}

function scheduleFrom(row: Selectable<ScheduleTable>): StoredSchedule {
  return {
    id: row.id,
    service: row.service,
    nextAt: toDate(row.next_at),
    until: toDate(row.until_at),
    createdAt: toDate(row.created_at),
    endedAt: toDate(row.ended_at),
  };
}

function runFrom(row: Selectable<ScheduleRunTable>): ScheduleRun {
  return {
    schedule: row.schedule_id,
    occurrence: toDate(row.occurrence),
    action: row.action,
    change: row.change_id,
    skipped: row.skipped,
    at: toDate(row.at),
  };
}
