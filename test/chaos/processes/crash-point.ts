import { AsyncLocalStorage } from 'node:async_hooks';

/** Where a process crashes: `before claimed`, `after succeeded|failed`, `after card drawn 2`. */
export interface CrashPoint {
  readonly when: 'before' | 'after';
  /** The names of the commits, of which one suffices; `any` is each commit that has a name. */
  readonly commits: readonly string[];
  readonly nth: number;
}

export function parseCrashPoint(text: string | undefined): CrashPoint | null {
  const found = /^(before|after) (.*?)(?: (\d+))?$/.exec(text ?? '');
  if (!found) return null;
  const [, when, commits = '', nth = '1'] = found;
  const nthCommit = Number(nth);
  return {
    when: when === 'before' ? 'before' : 'after',
    commits: commits.split('|'),
    nth: nthCommit,
  };
}

const inside = new AsyncLocalStorage<Set<string>>();

/** Kills this process at the n-th commit with one of these names. */
export function crashAt(point: CrashPoint | null): void {
  const counts = { before: 0, after: 0 };

  function reach(when: CrashPoint['when'], names: ReadonlySet<string>): void {
    const isNamed = (name: string) => names.has(name) || (name === 'any' && names.size > 0);
    if (!point?.commits.some(isNamed)) return;
    counts[when] += 1;
    const isIt = point.when === when && point.nth === counts[when];
    if (isIt) process.kill(process.pid, 'SIGKILL');
  }
  Object.assign(globalThis, {
    notes: (name: string) => inside.getStore()?.add(name),
    commits: <Tx, T>(run: (body: Body<Tx, T>) => Promise<T>, body: Body<Tx, T>) => {
      const names = new Set<string>();
      return inside.run(names, async () => {
        const result = await run(async (tx) => {
          const done = await body(tx);
          reach('before', names);
          return done;
        });
        reach('after', names);
        return result;
      });
    },
  });
}

type Body<Tx, T> = (tx: Tx) => Promise<T>;
