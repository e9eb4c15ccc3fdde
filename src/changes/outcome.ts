import type { Change, RoleName, UserId } from './change.ts';
import type { Refusal } from './refusal.ts';

export type Transition =
  | { readonly ok: true; readonly change: Change }
  | { readonly ok: false; readonly refusal: Refusal };

/** Whoever acts, with the roles that were read of them just now. */
export interface Actor {
  readonly id: UserId;
  readonly roles: readonly RoleName[];
}

/** Whatever happens to a change makes it another version of itself. */
export function move(change: Change): Transition {
  return { ok: true, change: { ...change, version: change.version + 1 } };
}

export function refuse(refusal: Refusal): Transition {
  return { ok: false, refusal };
}
