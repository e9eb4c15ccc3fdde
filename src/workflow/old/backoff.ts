import type { ChangeId } from '../../domain/change.ts';

interface Backoff {
  /** Postpones the next attempt at a change, counted from the given time. */
  readonly postpone: (id: ChangeId, from: Date) => void;
  readonly clear: (id: ChangeId) => void;
  /** The changes whose next attempt is not due yet. */
  readonly postponed: (now: Date) => readonly ChangeId[];
}

/** Limits how often this process retries a change. Whether a change may run is decided elsewhere. */
export function createBackoff(waitMs: number): Backoff {
  const until = new Map<ChangeId, number>();
  return {
    postpone: (id, from) => void until.set(id, from.getTime() + waitMs),
    clear: (id) => void until.delete(id),
    postponed: (now) => {
      for (const [id, at] of until) if (at <= now.getTime()) until.delete(id);
      return [...until.keys()];
    },
  };
}
