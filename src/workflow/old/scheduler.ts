import type { Logger } from 'pino';
import { during, outsideTrace } from '../../base/log.ts';

/** One pass over work that waits in the database. Returns how many items it handled. */
export type BackgroundLoop = () => Promise<number>;

export interface BackgroundLoops {
  /** Their work comes from users and other loops. */
  readonly woken: Readonly<Record<string, BackgroundLoop>>;
  /** Their work becomes due by time alone. */
  readonly timed: Readonly<Record<string, BackgroundLoop>>;
}

interface Scheduler {
  /** Starts a pass of the woken loops soon. Before `start` and after `stop` it has no effect. */
  readonly wake: () => void;
  /** The same for all loops. */
  readonly wakeAll: () => void;
  /** Runs all loops now and every `everyMs`. */
  readonly start: (loops: BackgroundLoops, everyMs: number) => void;
  /** Starts no new pass and resolves when the current passes have ended. */
  readonly stop: () => Promise<void>;
}

/**
 * Runs each background loop independently, so that a slow loop delays no other. A pass that handled
 * something is followed by another one, and wakes the woken loops, because its result may be work for them.
 */
export function createScheduler(log: Logger): Scheduler {
  let woken: readonly Runner[] = [];
  let timed: readonly Runner[] = [];
  let timer: NodeJS.Timeout | undefined;
  const wake = () => {
    for (const runner of woken) runner.wake();
  };
  const wakeAll = () => {
    for (const runner of [...woken, ...timed]) runner.wake();
  };
  const runnersOf = (loops: BackgroundLoops[keyof BackgroundLoops]) =>
    Object.entries(loops).map(([name, loop]) => runnerOf(log, name, loop, wake));
  return {
    wake,
    wakeAll,
    start: (loops, everyMs) => {
      woken = runnersOf(loops.woken);
      timed = runnersOf(loops.timed);
      timer = setInterval(wakeAll, everyMs);
      wakeAll();
    },
    stop: async () => {
      clearInterval(timer);
      await Promise.all([...woken, ...timed].map((runner) => runner.stop()));
    },
  };
}

type Runner = Pick<Scheduler, 'wake' | 'stop'>;

/** Runs one pass at a time. Any number of wakes during a pass cause exactly one more pass. */
function runnerOf(log: Logger, name: string, loop: BackgroundLoop, wakeOthers: () => void): Runner {
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
      if (handled > 0) {
        again = true;
        wakeOthers();
      }
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
