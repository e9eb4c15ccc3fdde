import { z } from 'zod';
import { addDays, type Day, dayNumber, dayOf } from '../base/time.ts';
import type { DayState } from '../maths/days.ts';
import { type LockAge, longestWait } from '../maths/days.ts';
import type { Db } from '../storage/engine/database.ts';
import { alsoUnderOldKey, withOldKey } from '../storage/engine/portable.ts';
import { readMeta } from '../storage/tables/meta.ts';

export const WATCH_KEY = 'cost-watch';

const Stored = withOldKey(
  'lastSettled',
  z.object({
    /** Every day up to this one is judged and is not judged again. */
    through: z.string(),
    /** The last day that was final or settled. */
    lastSettled: z.string(),
    /** The UTC day of the last scan. */
    ranOn: z.string(),
    at: z.iso.datetime(),
    /** The number of watched lines. */
    lines: z.number(),
    /** A click increments it too, so that a scan never overwrites what a person decided. */
    version: z.number(),
  }),
);

/** The progress of the watch: one value for all replicas, replaced with an optimistic lock. */
export type WatchState = Readonly<z.infer<typeof Stored>>;

export interface WatchSnapshot {
  readonly text: string | null;
  readonly state: WatchState | null;
}

export async function readWatch(db: Db): Promise<WatchSnapshot> {
  const text = await readMeta(db, WATCH_KEY);
  return { text, state: text === null ? null : Stored.parse(JSON.parse(text)) };
}

export function watchText(state: WatchState): string {
  return JSON.stringify(alsoUnderOldKey('lastSettled', state));
}

const LATE_MS = 36 * 3_600_000;

/** Whether the last scan is so old that "nothing unusual" must not be claimed. */
export function isWatchLate({ at }: WatchState, now: Date): boolean {
  return now.getTime() - Date.parse(at) > LATE_MS;
}

const SETTLE_MS = 6 * 3_600_000;
const FIRST_DAYS = 30;

/** The UTC day of the scan that is due: figures of the previous day are scanned from 06:00 on. */
export function dayToScan(now: Date): Day {
  return dayOf(new Date(now.getTime() - SETTLE_MS));
}

/** The first day to judge: the day after the judged ones, or 30 days ago in the first scan. */
export function firstDayToJudge(state: WatchState | null, today: Day): Day {
  return state ? addDays(state.through, 1) : addDays(today, -FIRST_DAYS);
}

/** A scan is due for each new settled day, and once a day for days that are not settled. */
export function isScanDue(
  state: WatchState | null,
  { lastSettled, now }: { readonly lastSettled: Day; readonly now: Date },
): boolean {
  return state === null || lastSettled > state.lastSettled || dayToScan(now) > state.ranOn;
}

/**
 * The last day up to which all days are final: a settled day is judged again when it moves. A day
 * that is open for longer than days usually are is ignored. Source: docs/costs.md#lock-age.
 */
export function judgedThrough(
  states: readonly DayState[],
  today: Day,
  lockAge: LockAge | null,
): Day | null {
  const wait = longestWait(lockAge);
  const open = states.find(
    ({ day, state }) => state !== 'final' && dayNumber(today) - dayNumber(day) <= wait,
  );
  const before = states.filter(({ day }) => !open || day < open.day);
  return before.at(-1)?.day ?? null;
}
