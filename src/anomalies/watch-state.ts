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

/** How far the watch has come; one value for all replicas, which only one of them moves on. */
export interface WatchState {
  /** Every day up to this one was judged for good. */
  readonly through: Day;
  readonly lastFinal: Day;
  /** The UTC day whose look is done. */
  readonly ranOn: Day;
  readonly at: string;
  /** How many lines were worth watching. */
  readonly lines: number;
  /** A press on a button moves it on as well, so that no run overwrites what a person said. */
  readonly version: number;
}

export interface Seen {
  readonly text: string | null;
  readonly state: WatchState | null;
}

export async function readWatch(db: Db): Promise<Seen> {
  const text = await readMeta(db, WATCH_KEY);
  return { text, state: text === null ? null : Stored.parse(JSON.parse(text)) };
}

const SETTLING_MS = 6 * 3_600_000;
const LONG_OPEN_DAYS = 10;
const FIRST_DAYS = 30;

/**
 * The UTC day whose figures have had time to come in: six hours after its end the day before is
 * worth a look, even where nothing is final.
 */
export function dayToLook(now: Date): Day {
  return dayOf(new Date(now.getTime() - SETTLING_MS));
}

/** Where judging begins: behind what was judged for good, at first with what lies a month back. */
export function firstDay(state: WatchState | null, today: Day): Day {
  return state ? addDays(state.through, 1) : addDays(today, -FIRST_DAYS);
}

/** A look is due once for each new final day, and once a day for what is not final. */
export function isLookDue(
  state: WatchState | null,
  { lastFinal, now }: { readonly lastFinal: Day; readonly now: Date },
): boolean {
  return state === null || lastFinal > state.lastFinal || dayToLook(now) > state.ranOn;
}

/**
 * The last day up to which all are final. A day that stays open or empty for ten days does not hold
 * up those behind it.
 */
export function judgedThrough(states: readonly DayState[], today: Day): Day | null {
  const open = states.find(
    ({ day, state }) => state !== 'final' && dayNumber(today) - dayNumber(day) <= LONG_OPEN_DAYS,
  );
  const before = states.filter(({ day }) => !open || day < open.day);
  return before.at(-1)?.day ?? null;
}
