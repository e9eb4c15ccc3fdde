import type { Call } from './call.ts';

/** One write that changed something on the simulated server. */
export interface Effect {
  readonly at: string;
  readonly operation: string;
  /** The id of the service or alert that changed or that was created. */
  readonly target: string;
  readonly body: unknown;
}

/** Separate from the requests: a request without a reply may have had an effect. */
export interface Effects {
  record(call: Call, target: string, at: Date): void;
  list(): readonly Effect[];
}

export function createEffects(): Effects {
  const all: Effect[] = [];
  return {
    record({ operation, body }, target, at) {
      const value = body.kind === 'json' ? body.value : null;
      all.push({ at: at.toISOString(), operation, target, body: value });
    },
    list: () => [...all],
  };
}
