import type { UserId } from './change.ts';

/** What users decide about a change, with a button or a form. */
export const VERBS = [
  'confirm',
  'approve',
  'reject',
  'cancel',
  'break-glass',
  'review',
  'happened',
  'did-not-happen',
  'snooze',
] as const;
export type Verb = (typeof VERBS)[number];

/** A decision of a user about a change. */
export interface Press {
  readonly verb: Verb;
  readonly by: UserId;
}
