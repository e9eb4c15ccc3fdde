/** The clock of the sandbox: the bot, the simulators and the page show the same time. */
export type WorldClock = ReturnType<typeof createWorldClock>;

/** Returns a clock that shows `startsAt` now and counts on in real time. */
export function createWorldClock(startsAt: Date = new Date(), machine: () => number = Date.now) {
  let offsetMs = startsAt.getTime() - machine();
  return {
    now: () => new Date(machine() + offsetMs),
    /** How far this clock is ahead of the clock of the machine, in milliseconds. */
    offsetMs: () => offsetMs,
    /** Moves the clock forward to this time; an earlier time changes nothing. */
    moveTo: (at: Date): void => {
      offsetMs = Math.max(offsetMs, at.getTime() - machine());
    },
  };
}
