// Where a deciding button was pressed. A press counts only where Signalbox put that button.

import type { Position } from './change.ts';

/** Own messages of a channel are read this far back: older ones are about changes that have ended long ago. */
export const READ_BACK_DAYS = 31;

/**
 * How the hash of a mark begins that says that the log has lost the change: no log has it. Where the change is known
 * after another rollback, people have read that they should request it again.
 */
export const LOST_HASH = 'lost-';

export type Place =
  /** A message that stays in Slack: the log has to say that it shows this change. */
  | { readonly kind: 'message'; readonly at: Position; readonly thread: string | null }
  /** A private message, the Home tab or a form that Signalbox made for this user; or a typed command. */
  | { readonly kind: 'own' }
  /** A private message, the Home tab or a form that Signalbox did not make for this user. */
  | { readonly kind: 'unknown' };

/** Whether a button of a change may be where it was pressed. `posted` are the messages that show the change. */
export function isPlaceOf(place: Place, posted: readonly Position[]): boolean {
  if (place.kind !== 'message') return place.kind === 'own';
  const { channel, ts } = place.at;
  return posted.some((at) => at.channel === channel && at.ts === ts);
}
