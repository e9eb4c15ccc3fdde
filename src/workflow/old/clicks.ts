import type { Change, UserId, Verb } from '../../domain/change.ts';
import type { Denial } from '../../domain/gate.ts';

export type ClickOutcome =
  | { readonly ok: true; readonly verb: Verb; readonly change: Change }
  | { readonly ok: false; readonly verb: Verb; readonly denial: Denial };

/** Where the private answer to a click goes. */
export interface ReplyTo {
  /** Slack's response URL: valid for 30 minutes, never logged. Null: none was sent. */
  readonly url: string | null;
  readonly user: UserId;
  readonly channel: string | null;
  /** The direct message with the button, which the URL cannot replace. Null for any other. */
  readonly ts: string | null;
  /** The thread of the button: Slack shows the answer there only if it is named. */
  readonly thread: string | null;
  /** The click came from a private message, which the answer replaces. */
  readonly replaces: boolean;
  /** The click came from the App Home tab, which is redrawn afterwards. */
  readonly home: boolean;
}

/** The button with which an operator accepts a gap of the audit trail. */
export const ACCEPT_GAP = 'trail.accept';
