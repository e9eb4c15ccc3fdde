import { reading, type Store } from './database.ts';

const FOLLOW_EVERY_MS = 30_000;

export interface SharedClock {
  readonly now: () => Date;
  /** How far the clock of this machine is behind the shared clock, in milliseconds. */
  readonly behindMs: () => number;
  readonly stop: () => void;
}

/** Called for each later reading of the clock. */
interface ClockListeners {
  readonly onError: (error: unknown) => void;
  readonly onRead: () => void;
}

interface ClockSource {
  readonly machine: () => number;
  /** Never jumps, even if the clock of the machine is set. */
  readonly monotonic: () => number;
}

const MACHINE: ClockSource = { machine: () => Date.now(), monotonic: () => performance.now() };

/**
 * One clock for all replicas: the time of the database, read every 30 seconds and counted forward
 * in between. Replicas compare leases: one whose clock is fast would take over live leases.
 */
export async function followClock(
  store: Store,
  { onError, onRead }: ClockListeners,
  source: ClockSource = MACHINE,
): Promise<SharedClock> {
  const read = async () => {
    const started = source.monotonic();
    const at = await reading(store, (reader) => store.clock(reader));
    // The database read its clock about halfway through the query.
    const mark = (started + source.monotonic()) / 2;
    return { at, mark, behind: at - source.machine() };
  };
  let last = await read();
  const timer = setInterval(() => {
    read().then((next) => {
      last = next;
      onRead();
    }, onError);
  }, FOLLOW_EVERY_MS);
  timer.unref();
  return {
    now: () => new Date(Math.floor(last.at + source.monotonic() - last.mark)),
    behindMs: () => last.behind,
    stop: () => clearInterval(timer),
  };
}
