import { AsyncLocalStorage } from 'node:async_hooks';

/** Where a process is to die: `before claimed`, `after succeeded|failed`, `after card drawn 2`. */
export interface Death {
  readonly when: 'before' | 'after';
  /** Any of these. */
  readonly commits: readonly string[];
  readonly nth: number;
}

export function deathFrom(text: string | undefined): Death | null {
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

/** Ends this process, as a cut cable would, at one commit of one name. */
export function dieAt(death: Death | null): void {
  const counts = { before: 0, after: 0 };

  function reach(when: Death['when'], names: ReadonlySet<string>): void {
    if (!death?.commits.some((name) => names.has(name))) return;
    counts[when] += 1;
    const isIt = death.when === when && death.nth === counts[when];
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
