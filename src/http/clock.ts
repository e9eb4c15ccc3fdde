/** Time and chance as the clients need them; tests pass their own. */
export interface Clock {
  /** Milliseconds that only ever grow, from an arbitrary zero. */
  now(): number;
  /** Over before its time when the signal fires. */
  sleep(ms: number, signal?: AbortSignal): Promise<unknown>;
  /** A signal that fires after so many milliseconds. */
  timeout(ms: number): AbortSignal;
  /** From 0 to just under 1. */
  random(): number;
}

export const machineClock: Clock = {
  now: () => performance.now(),
  sleep: machineSleep,
  timeout: (ms) => AbortSignal.timeout(Math.ceil(ms)),
  random: () => Math.random(),
};

function machineSleep(ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((wake) => {
    const over = () => {
      clearTimeout(timer);
      signal?.removeEventListener('abort', over);
      wake();
    };
    const timer = setTimeout(over, ms);
    signal?.addEventListener('abort', over);
    if (signal?.aborted) over();
  });
}
