import { reading, type Store } from './database.ts';

const FOLLOW_EVERY_MS = 30_000;

export interface SharedClock {
  readonly now: () => Date;
  readonly stop: () => void;
}

/** Called for each later reading of the clock. */
interface ClockListeners {
  readonly onError: (error: unknown) => void;
  readonly onRead: () => void;
}

/**
 * One clock for all replicas: the time of the database, read every 30 seconds and counted forward
 * in between by `elapsed`, which never jumps, even if the clock of the machine is set. Replicas compare leases: one
 * whose clock is fast would take over live leases.
 */
export async function followClock(
  store: Store,
  { onError, onRead }: ClockListeners,
  elapsed: () => number = () => performance.now(),
): Promise<SharedClock> {
  const read = async () => {
    const started = elapsed();
    const at = await reading(store, (reader) => store.clock(reader));
    // The database read its clock about halfway through the query.
    const mark = (started + elapsed()) / 2;
    return { at, mark };
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
    now: () => new Date(Math.floor(last.at + elapsed() - last.mark)),
    stop: () => clearInterval(timer),
  };
}
