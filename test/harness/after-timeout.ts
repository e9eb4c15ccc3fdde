import type { Clock } from '../../src/base/time.ts';

/** The `after` of a test clock: it runs when the deadline of the same time expires. */
export function afterTimeout(timeout: Clock['timeout']): Clock['after'] {
  return (ms, run) => {
    const signal = timeout(ms);
    signal.addEventListener('abort', run, { once: true });
    return () => signal.removeEventListener('abort', run);
  };
}
