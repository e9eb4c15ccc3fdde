import { once } from 'node:events';
import type { Logger } from 'pino';
import type { Clock } from '../../base/time.ts';
import type { Position } from '../../domain/change.ts';

/** After this time without an answer, the user sees what Signalbox is doing. */
export const PROGRESS_AFTER_MS = 2_000;

interface ProgressOptions {
  readonly clock: Clock;
  readonly log: Logger;
  /** Aborts when the user should see the notice; 2 s after the call without it. */
  readonly late?: AbortSignal | undefined;
  /** Shows the notice; its position if the answer can replace it, else null. */
  readonly show: () => Promise<Position | null>;
}

export interface Finished<T> {
  readonly result: T;
  /** The user has seen the notice, or Slack refused it. */
  readonly isLate: boolean;
  /** Where the notice is that the answer replaces; null without such a notice. */
  readonly notice: Position | null;
}

/**
 * The result of the work, after a notice if the work takes more than 2 s. A notice that cannot be
 * shown does not change the result. Source: docs/slack.md#private-messages.
 */
export async function withProgress<T>(
  { clock, log, show, late }: ProgressOptions,
  work: () => Promise<T>,
): Promise<Finished<T>> {
  let shown: Promise<Position | null> | null = null;
  const notify = () => {
    shown = show().catch((error: unknown) => {
      log.warn({ err: error }, 'a progress notice was not shown');
      return null;
    });
  };
  const cancel = late ? whenAborted(late, notify) : clock.after(PROGRESS_AFTER_MS, notify);
  try {
    const result = await work();
    return { result, isLate: shown !== null, notice: await shown };
  } finally {
    cancel();
  }
}

/** Returns a function that removes the listener. */
function whenAborted(signal: AbortSignal, run: () => void): () => void {
  if (signal.aborted) run();
  else signal.addEventListener('abort', run, { once: true });
  return () => signal.removeEventListener('abort', run);
}

/** The result of the work; null if the signal aborts first. */
export async function orLate<T>(late: AbortSignal, work: Promise<T>): Promise<T | null> {
  if (late.aborted) return null;
  return Promise.race([work, once(late, 'abort').then(() => null)]);
}
