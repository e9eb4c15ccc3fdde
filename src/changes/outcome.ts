import type { Change, UserId } from './change.ts';
import type { Refusal } from './refusal.ts';
import type { RoleName } from './requirement.ts';

export type Transition =
  | { readonly ok: true; readonly change: Change }
  | { readonly ok: false; readonly refusal: Refusal };

/** The user who acts, with the current roles. */
export interface Actor {
  readonly id: UserId;
  readonly roles: readonly RoleName[];
}

/** Every move increases the version. */
export function move(change: Change): Transition {
  return { ok: true, change: { ...change, version: change.version + 1 } };
}

export function refuse(refusal: Refusal): Transition {
  return { ok: false, refusal };
}
