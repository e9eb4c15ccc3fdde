import type { Change, RoleName, UserId } from './change.ts';
import type { Refusal } from './refusal.ts';

export type Outcome =
  | { readonly ok: true; readonly change: Change }
  | { readonly ok: false; readonly refusal: Refusal };

/** Whoever acts, with the roles that were read of them just now. */
export interface Actor {
  readonly id: UserId;
  readonly roles: readonly RoleName[];
}

/** Whatever happens to a change makes it another version of itself. */
export function move(change: Change): Outcome {
  return { ok: true, change: { ...change, version: change.version + 1 } };
}

export function refuse(refusal: Refusal): Outcome {
  return { ok: false, refusal };
}
