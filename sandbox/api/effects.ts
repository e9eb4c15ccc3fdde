import type { Call } from './call.ts';

/** One time that a write really changed something on the server's side. */
export interface Effect {
  readonly at: string;
  readonly operation: string;
  /** The id of the service or alert that changed; of a created one, its new id. */
  readonly target: string;
  readonly body: unknown;
}

/** Counted apart from requests: a request without an answer may have an effect, and the reverse. */
export interface Effects {
  record(effect: Effect): void;
  list(): readonly Effect[];
}

export function createEffects(): Effects {
  const all: Effect[] = [];
  return { record: (effect) => all.push(effect), list: () => [...all] };
}

export function effectOf({ operation, body }: Call, target: string, at: Date): Effect {
  const value = body.kind === 'json' ? body.value : null;
  return { at: at.toISOString(), operation, target, body: value };
}
