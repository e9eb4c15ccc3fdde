/**
 * Loaded before `src/main.ts`, which stays as it is in production: gives the bot the clock of the
 * sandbox. A move changes `Date` and monotonic time, ends the sleeps and runs the intervals that
 * the skipped time contains. Timeouts stay in real time: they are timers of their own, so that a
 * move ends no socket and no request.
 *
 * The bot takes its time from its database. SQLite has no clock of its own and uses `Date`. A
 * PostgreSQL server has one, which this file cannot move; the sandbox therefore uses SQLite.
 */
import { syncBuiltinESMExports } from 'node:module';
import timers, { setImmediate as turn } from 'node:timers/promises';

const startOffsetMs = Number(process.env.SANDBOX_CLOCK_OFFSET_MS ?? 0);
let offsetMs = startOffsetMs;

const MachineDate = Date;
const now = () => MachineDate.now() + offsetMs;

globalThis.Date = new Proxy(MachineDate, {
  construct: (date, args, newTarget) =>
    Reflect.construct(date, args.length === 0 ? [now()] : args, newTarget),
  apply: () => new MachineDate(now()).toString(),
  get: (date, key) => (key === 'now' ? now : Reflect.get(date, key)),
});

const monotonic = performance.now.bind(performance);
performance.now = () => monotonic() + offsetMs - startOffsetMs;

interface Sleep {
  readonly endsAt: number;
  readonly end: () => void;
}

const sleeps = new Set<Sleep>();
const delay = timers.setTimeout;

async function sandboxDelay<T>(
  ms = 1,
  value?: T,
  options: Parameters<typeof delay>[2] = {},
): Promise<T | undefined> {
  const early = new AbortController();
  const sleep: Sleep = { endsAt: now() + ms, end: () => early.abort() };
  sleeps.add(sleep);
  const signals = [early.signal, ...(options.signal ? [options.signal] : [])];
  try {
    await delay(ms, undefined, { ...options, signal: AbortSignal.any(signals) });
  } catch (error) {
    if (options.signal?.aborted || !early.signal.aborted) throw error;
  } finally {
    sleeps.delete(sleep);
  }
  return value;
}

interface Interval {
  readonly run: () => void;
  /** When it runs next, by the clock of the sandbox. */
  dueAt: number;
}

/** In the order in which they were started. */
const intervals = new Map<unknown, Interval>();
const { setInterval: startInterval, clearInterval: endInterval } = globalThis;

function sandboxInterval(
  callback: (...args: unknown[]) => void,
  everyMs = 1,
  ...args: unknown[]
): NodeJS.Timeout {
  const run = () => {
    interval.dueAt = now() + everyMs;
    callback(...args);
  };
  const interval: Interval = { run, dueAt: now() + everyMs };
  const timer = startInterval(run, everyMs);
  intervals.set(timer, interval);
  return timer;
}

function clearSandboxInterval(timer: NodeJS.Timeout | undefined): void {
  intervals.delete(timer);
  endInterval(timer);
}

Object.assign(timers, { setTimeout: sandboxDelay });
Object.assign(globalThis, { setInterval: sandboxInterval, clearInterval: clearSandboxInterval });
syncBuiltinESMExports();

/** Each interval runs once, however often the skipped time contains it. */
async function move(nextOffsetMs: number): Promise<void> {
  offsetMs = nextOffsetMs;
  for (const sleep of sleeps) if (sleep.endsAt <= now()) sleep.end();
  for (const interval of [...intervals.values()]) {
    if (interval.dueAt > now()) continue;
    interval.run();
    await turn();
  }
}

/** The end of the next sleep by the clock of the sandbox, in milliseconds; null without a sleep. */
function nextSleepEnd(): number | null {
  const ends = [...sleeps].map(({ endsAt }) => endsAt);
  return ends.length === 0 ? null : Math.min(...ends);
}

process.on('message', (message) => {
  const next = Number(Object(message).offsetMs);
  if (!Number.isFinite(next)) return;
  void move(next).then(() => {
    const { active } = performance.eventLoopUtilization();
    process.send?.({ sleepsUntil: nextSleepEnd(), activeMs: active });
  });
});
// The channel to the sandbox must not keep a bot running that has ended its work. It closes when the sandbox ends, also
// if it is killed: a bot without its sandbox would ask the next one on the same port.
process.channel?.unref();
process.on('disconnect', () => process.exit());
