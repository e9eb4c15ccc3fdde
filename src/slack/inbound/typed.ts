import type { UserId } from '../../changes/change.ts';
import type { ReplyTarget } from '../outbound/post.ts';

/** A line that somebody typed, or a button that types it for them. */

export interface Typed {
  readonly noun: string;
  readonly text: string;
  readonly by: UserId;
  readonly spot: ReplyTarget;
  /** Slack's mark of this one interaction; opens a modal, and tells a repetition from a second. */
  readonly trigger: string;
}
