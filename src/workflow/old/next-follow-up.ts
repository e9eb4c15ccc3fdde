import type { Change, EvidenceGap, FollowUp } from '../../domain/change.ts';
import { FOLLOW_MS, LONGEST_WAIT_MS } from './pace.ts';
import type { TargetReading } from './read-followed.ts';

export const FIRST_FOLLOW_UP: FollowUp = {
  state: 'open',
  seen: null,
  gap: null,
  why: null,
  candidates: [],
  revision: 1,
};

interface Reading {
  readonly reading: TargetReading;
  readonly readAt: Date;
  /** When the outcome was recorded. */
  readonly since: Date;
  /** Since then, in milliseconds. */
  readonly ageMs: number;
  readonly isSuperseded: boolean;
  /** Why it does not settle an unknown outcome; null for any other state. */
  readonly why: EvidenceGap | null;
}

/** What is shown of a target after a reading, and whether it is read again. */
export function nextFollowUp(
  change: Pick<Change, 'state'>,
  before: FollowUp,
  { reading, readAt, since, ageMs, isSuperseded, why }: Reading,
): FollowUp {
  const { state } = change;
  const renewsAfterMs = state === 'unknown' ? LONGEST_WAIT_MS : Number.POSITIVE_INFINITY;
  const now = { at: readAt, since, renewsAfterMs };
  const next: FollowUp = {
    ...before,
    state: stateAfter(change, { reading, ageMs, isSuperseded }),
    why: reading.known ? why : before.why,
    gap: reading.known ? null : reading.why,
    seen: reading.known ? seenIn(before, reading.progress.text, now) : before.seen,
    candidates: reading.known ? reading.candidates : before.candidates,
  };
  return isSameShown(before, next) ? next : { ...next, revision: before.revision + 1 };
}

function stateAfter(
  { state }: Pick<Change, 'state'>,
  { reading, ageMs, isSuperseded }: Pick<Reading, 'reading' | 'ageMs' | 'isSuperseded'>,
): FollowUp['state'] {
  // Read until it is resolved, because a person needs what is known now.
  if (state === 'unknown') return 'open';
  if (isSuperseded) return 'superseded';
  if (!reading.known && reading.isRefused) return 'unreadable';
  const is = reading.known ? reading.progress.is : 'unknown';
  if (is === 'settled' || is === 'failed') return is;
  return ageMs >= FOLLOW_MS ? 'given-up' : 'open';
}

interface SeenNow {
  readonly at: Date;
  readonly since: Date;
  readonly renewsAfterMs: number;
}

/** The value with the time at which it was first read; beside the buttons, a recent one. */
function seenIn(
  { seen }: FollowUp,
  text: string,
  { at, since, renewsAfterMs }: SeenNow,
): FollowUp['seen'] {
  if (seen?.text !== text || seen.at < since) return { text, at };
  return at.getTime() - seen.at.getTime() >= renewsAfterMs ? { text, at } : seen;
}

function isSameShown(before: FollowUp, after: FollowUp): boolean {
  return JSON.stringify(before) === JSON.stringify(after);
}
