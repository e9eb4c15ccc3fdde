import type { TestSandbox } from './test-sandbox.ts';

export type Watched = Pick<TestSandbox, 'slack' | 'cloud'> & Partial<Pick<TestSandbox, 'alerts'>>;
type Moved = Watched & Pick<TestSandbox, 'clock' | 'wake'>;

/** The system may stop this process before one look, but hardly before each of them. */
const LOOKS = 3;

/** Returns what a poll calls to see whether the bot has sent no request between the last looks, counted again after true. */
export function quietness({ slack, cloud, alerts }: Watched): () => boolean {
  let before = -1;
  let looks = 0;
  return () => {
    const sent = slack.calls().length + cloud.requests().length + (alerts?.requests().length ?? 0);
    looks = sent === before ? looks + 1 : 0;
    before = sent;
    if (looks < LOOKS) return false;
    looks = 0;
    return true;
  };
}

/**
 * Returns what a poll calls to let the time of the sandbox pass: a step whenever nothing is under way; true if it was
 * taken. With a step in each poll, hours would pass on a slow machine, and leases would end during the work that they
 * protect.
 */
export function timeInSteps(sandbox: Moved, stepMs: number): () => boolean {
  const isQuiet = quietness(sandbox);
  return () => {
    if (!isQuiet()) return false;
    sandbox.clock.now = new Date(sandbox.clock.now.getTime() + stepMs);
    sandbox.wake();
    return true;
  };
}

/** What a poll looks at, while the time of the sandbox passes in such steps. */
export function asTimePasses<T>(sandbox: Moved, stepMs: number, look: () => T): () => T {
  const pass = timeInSteps(sandbox, stepMs);
  return () => {
    pass();
    return look();
  };
}
