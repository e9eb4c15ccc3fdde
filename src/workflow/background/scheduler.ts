import type { Logger } from 'pino';
import { during } from '../../observability/log.ts';
import { outsideTrace } from '../../observability/trace.ts';

/** One pass over work that waits in the database. Returns how many items it handled. */
export type BackgroundLoop = () => Promise<number>;

interface Scheduler {
  /** Starts a pass of every loop soon. Before `start` and after `stop` it has no effect. */
  readonly wake: () => void;
  /** Runs all loops now, every `everyMs` and after each `wake`. */
  readonly start: (loops: Readonly<Record<string, BackgroundLoop>>, everyMs: number) => void;
  /** Starts no new pass and resolves when the current passes have ended. */
  readonly stop: () => Promise<void>;
}

/**
 * Runs each background loop independently, so that a slow loop delays no other. A pass that handled
 * something wakes all loops, because its result may be work for another one.
 */
export function createScheduler(log: Logger): Scheduler {
  let runners: readonly Pick<Scheduler, 'wake' | 'stop'>[] = [];
  let timer: NodeJS.Timeout | undefined;
  const wake = () => {
    for (const runner of runners) runner.wake();
  };
  return {
    wake,
    start: (loops, everyMs) => {
      runners = Object.entries(loops).map(([name, loop]) => runnerOf(log, name, loop, wake));
      timer = setInterval(wake, everyMs);
      wake();
    },
    stop: async () => {
      clearInterval(timer);
      await Promise.all(runners.map((runner) => runner.stop()));
    },
  };
}

/** Runs one pass at a time. Any number of wakes during a pass cause exactly one more pass. */
function runnerOf(log: Logger, name: string, loop: BackgroundLoop, wakeAll: () => void) {
  let running: Promise<void> | null = null;
  let again = false;
  let stopped = false;
  let lastError: string | null = null;

  // The same error is logged once: a database outage would otherwise add a line per second.
  const failed = (error: unknown) => {
    const level = String(error) === lastError ? 'debug' : 'error';
    lastError = String(error);
    log[level]({ err: error, loop: name }, 'background loop failed; it runs again');
    return 0;
  };
  const succeeded = (handled: number) => {
    if (lastError !== null) log.info({ loop: name }, 'background loop recovered');
    lastError = null;
    return handled;
  };
  const passes = async () => {
    do {
      again = false;
      const handled = await loop().then(succeeded, failed);
      if (handled > 0) wakeAll();
    } while (again && !stopped);
  };
  const wake = () => {
    again = true;
    if (running || stopped) return;
    // Log lines and traces of a pass do not belong to the request that woke the loop.
    running = outsideTrace(() => during({}, passes)).finally(() => {
      running = null;
    });
  };
  const stop = async () => {
    stopped = true;
    await running;
  };
  return { wake, stop };
}
