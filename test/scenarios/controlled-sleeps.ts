import { NOON } from '../harness/users.ts';

/** Sleeps that end when the time of the test has come. */
export function controlledSleeps() {
  const time = { ms: NOON.getTime() };
  const sleepers = new Set<{ readonly until: number; readonly wake: () => void }>();
  const wakeUntil = (ms: number) => {
    for (const sleeper of sleepers) {
      if (sleeper.until > ms) continue;
      sleepers.delete(sleeper);
      sleeper.wake();
    }
  };
  return {
    sleep: (ms: number) =>
      new Promise<void>((wake) => {
        if (time.ms === Number.POSITIVE_INFINITY) wake();
        else sleepers.add({ until: time.ms + ms, wake });
      }),
    advanceTo: (ms: number) => {
      time.ms = ms;
      wakeUntil(ms);
    },
  };
}
