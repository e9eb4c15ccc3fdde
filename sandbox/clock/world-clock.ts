/** The clock of the sandbox: the bot, the simulators and the page show the same time. */
export interface WorldClock {
  readonly now: () => Date;
  /** How far this clock is ahead of the clock of the machine, in milliseconds. */
  readonly offsetMs: () => number;
  /** Moves the clock forward to this time; an earlier time changes nothing. */
  readonly moveTo: (at: Date) => void;
}

/** Returns a clock that shows `startsAt` now and counts on in real time. */
export function createWorldClock(
  startsAt: Date = new Date(),
  machine: () => number = Date.now,
): WorldClock {
  let offsetMs = startsAt.getTime() - machine();
  return {
    now: () => new Date(machine() + offsetMs),
    offsetMs: () => offsetMs,
    moveTo: (at) => {
      offsetMs = Math.max(offsetMs, at.getTime() - machine());
    },
  };
}
