import { z } from 'zod';
import { addDays, type Day, dayNumber, dayOf } from '../costs/calendar/day.ts';
import type { DayState } from '../costs/ledger/ledger.ts';
import type { Db } from '../storage/engine/database.ts';
import { readMeta } from '../storage/tables/meta.ts';

export const WATCH_KEY = 'cost-watch';

const Stored = z.object({
  through: z.string(),
  lastFinal: z.string(),
  ranOn: z.string(),
  at: z.iso.datetime(),
  lines: z.number(),
  version: z.number(),
});

/** The progress of the watch: one value for all replicas, replaced with an optimistic lock. */
export interface WatchState {
  /** Every day up to this one is judged and is not judged again. */
  readonly through: Day;
  readonly lastFinal: Day;
  /** The UTC day of the last scan. */
  readonly ranOn: Day;
  readonly at: string;
  /** The number of watched lines. */
  readonly lines: number;
  /** A click increments it too, so that a scan never overwrites what a person decided. */
  readonly version: number;
}

export interface WatchSnapshot {
  readonly text: string | null;
  readonly state: WatchState | null;
}

export async function readWatch(db: Db): Promise<WatchSnapshot> {
  const text = await readMeta(db, WATCH_KEY);
  return { text, state: text === null ? null : Stored.parse(JSON.parse(text)) };
}

const LATE_MS = 36 * 3_600_000;

/** Whether the last scan is so old that "nothing unusual" must not be claimed. */
export function isWatchLate({ at }: WatchState, now: Date): boolean {
  return now.getTime() - Date.parse(at) > LATE_MS;
}

const SETTLE_MS = 6 * 3_600_000;
const LONG_OPEN_DAYS = 10;
const FIRST_DAYS = 30;

/** The UTC day of the scan that is due: figures of the previous day are scanned from 06:00 on. */
export function dayToScan(now: Date): Day {
  return dayOf(new Date(now.getTime() - SETTLE_MS));
}

/** The first day to judge: the day after the judged ones, or 30 days ago in the first scan. */
export function firstDayToJudge(state: WatchState | null, today: Day): Day {
  return state ? addDays(state.through, 1) : addDays(today, -FIRST_DAYS);
}

/** A scan is due for each new final day, and once a day for days that are not final. */
export function isScanDue(
  state: WatchState | null,
  { lastFinal, now }: { readonly lastFinal: Day; readonly now: Date },
): boolean {
  return state === null || lastFinal > state.lastFinal || dayToScan(now) > state.ranOn;
}

/** The last day up to which all days are final. A day that is open for over ten days is ignored. */
export function judgedThrough(states: readonly DayState[], today: Day): Day | null {
  const open = states.find(
    ({ day, state }) => state !== 'final' && dayNumber(today) - dayNumber(day) <= LONG_OPEN_DAYS,
  );
  const before = states.filter(({ day }) => !open || day < open.day);
  return before.at(-1)?.day ?? null;
}
