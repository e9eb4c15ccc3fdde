import type { Database } from './database.ts';

const FOLLOW_EVERY_MS = 30_000;

export interface SharedClock {
  readonly now: () => Date;
  /** How far the clock of this machine is behind the shared one. */
  readonly behindMs: () => number;
  readonly stop: () => void;
}

export interface ClockSource {
  readonly machine: () => number;
  /** Never jumps, whatever somebody sets the machine's clock to. */
  readonly monotonic: () => number;
}

const MACHINE: ClockSource = { machine: () => Date.now(), monotonic: () => performance.now() };

/**
 * One clock for all replicas: the database's, asked for now and then and counted on in between.
 * Expiries and leases are compared across machines, and a machine whose clock runs ahead would
 * else take what another one is still at work on.
 */
export async function followClock(
  database: Pick<Database, 'now'>,
  onError: (error: unknown) => void,
  source: ClockSource = MACHINE,
): Promise<SharedClock> {
  const read = async () => {
    const asked = source.monotonic();
    const at = (await database.now()).getTime();
    // Half of the way there and back: what the question itself took.
    const mark = (asked + source.monotonic()) / 2;
    return { at, mark, behind: at - source.machine() };
  };
  let last = await read();
  const timer = setInterval(() => {
    read().then((next) => {
      last = next;
    }, onError);
  }, FOLLOW_EVERY_MS);
  timer.unref();
  return {
    now: () => new Date(last.at + source.monotonic() - last.mark),
    behindMs: () => last.behind,
    stop: () => clearInterval(timer),
  };
}
