import type { Call } from './call.ts';

/** One write that changed something on the simulated server. */
export interface Effect {
  readonly at: string;
  readonly operation: string;
  /** The id of the service or alert that changed or that was created. */
  readonly target: string;
  readonly body: unknown;
}

export type Effects = ReturnType<typeof createEffects>;

/** Separate from the requests: a request without a reply may have had an effect. */
export function createEffects() {
  const all: Effect[] = [];
  return {
    record({ operation, body }: Call, target: string, at: Date): void {
      const value = body.kind === 'json' ? body.value : null;
      all.push({ at: at.toISOString(), operation, target, body: value });
    },
    list: (): readonly Effect[] => [...all],
  };
}
