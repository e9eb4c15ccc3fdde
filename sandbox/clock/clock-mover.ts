import type { ChildProcess } from 'node:child_process';
import { setTimeout as wait } from 'node:timers/promises';
import { moveBot } from './bot-process.ts';
import { clockSteps } from './moves.ts';
import type { WorldClock } from './world-clock.ts';

interface MoverOptions {
  readonly clock: WorldClock;
  /** The current process of the bot; a restarted bot is another process. */
  readonly bot: () => ChildProcess;
  /** A number that grows with each request of the bot. */
  readonly activity: () => number;
  /** Called after each step. */
  readonly changed: () => void;
}

export type ClockMover = ReturnType<typeof createClockMover>;

// The bot starts its due work at once. It has ended, or sleeps, when the bot sends no request and
// is less busy than its clock alone makes it.
const QUIET_MS = 20;
const BUSY_MS = 8;
const QUIET_WITHIN_MS = 5_000;
// The bot sleeps when it has used its rate limit. Skipping these sleeps lets its work end.
const MOST_SLEEPS = 40;
const SLEEPS_UP_TO_MS = 60_000;

export function createClockMover({ clock, bot, activity, changed }: MoverOptions) {
  let isMoving = false;
  const moveTo = (at: Date) => {
    clock.moveTo(at);
    return moveBot(bot(), clock.offsetMs());
  };
  /** Returns the end of the bot's next sleep, or null if it does not sleep. */
  const untilQuiet = async () => {
    const until = performance.now() + QUIET_WITHIN_MS;
    for (let last = { requests: -1, activeMs: 0 }; ; ) {
      const { sleepsUntil, activeMs } = await moveTo(clock.now());
      const requests = activity();
      const isQuiet = requests === last.requests && activeMs - last.activeMs < BUSY_MS;
      if (isQuiet || performance.now() > until) return sleepsUntil;
      last = { requests, activeMs };
      await wait(QUIET_MS);
    }
  };
  const finishWork = async (until: number) => {
    for (let skipped = 0; skipped < MOST_SLEEPS; skipped += 1) {
      const sleepsUntil = await untilQuiet();
      if (sleepsUntil === null || sleepsUntil > until) return;
      await moveTo(new Date(sleepsUntil));
    }
  };
  /** Moves the whole sandbox to this time in one step, and lets the bot finish its due work. */
  const jumpTo = async (to: Date) => {
    await moveTo(to);
    changed();
    await finishWork(to.getTime() + SLEEPS_UP_TO_MS);
  };
  /** Moves the whole sandbox to this time, in steps, so that everything happens in its order. */
  const walkTo = async (to: Date) => {
    isMoving = true;
    try {
      await finishWork(clock.now().getTime() + SLEEPS_UP_TO_MS);
      for (const step of clockSteps(clock.now(), to)) await jumpTo(step);
    } finally {
      isMoving = false;
      changed();
    }
  };
  return { isMoving: () => isMoving, walkTo, jumpTo };
}
