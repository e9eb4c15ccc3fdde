/** Where a process crashes: at its n-th call of a port or its first one of this name, before or after the effect. */
export interface Crash {
  readonly at: number | string;
  readonly when: 'before' | 'after';
  /** At that moment the database is rolled back as well; then the process may live on. */
  readonly rollback?: { readonly commits: number; readonly lives: boolean };
}

export interface Ports {
  /** All effects of this process go through this function. */
  readonly call: <T>(name: string, work: () => Promise<T>) => Promise<T>;
  readonly names: () => readonly string[];
  /** Resolves when the process has crashed. */
  readonly crashed: Promise<void>;
  readonly isDead: () => boolean;
}

/**
 * The ports of one process. After its crash, no call returns, and no further call has an effect.
 */
export function openPorts(
  crash: Crash | null,
  rollBack: (commits: number) => Promise<void>,
): Ports {
  const names: string[] = [];
  const death = Promise.withResolvers<void>();
  let dead = false;

  const never = <T>(): Promise<T> => new Promise<T>(() => undefined);
  const die = <T>(): Promise<T> => {
    dead = true;
    death.resolve();
    return never<T>();
  };
  async function isStruck({ rollback }: Crash): Promise<boolean> {
    if (rollback) await rollBack(rollback.commits);
    return !rollback?.lives;
  }
  async function call<T>(name: string, work: () => Promise<T>): Promise<T> {
    if (dead) return never();
    names.push(name);
    const first = names.indexOf(name) === names.length - 1 ? name : null;
    const here = crash && [names.length, first].includes(crash.at) ? crash : null;
    if (here?.when === 'before' && (await isStruck(here))) return die();
    const settled = await work().then(
      (value) => () => value,
      (error: unknown) => () => {
        throw error;
      },
    );
    if (here?.when === 'after' && (await isStruck(here))) return die();
    return dead ? never() : settled();
  }
  return { call, names: () => names, crashed: death.promise, isDead: () => dead };
}
