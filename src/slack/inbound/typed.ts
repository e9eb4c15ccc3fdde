import type { UserId } from '../../changes/change.ts';
import type { ReplyTarget } from '../outbound/post.ts';

/** A command line that a user typed, or a button that types it for them. */
export interface Typed {
  readonly noun: string;
  readonly text: string;
  readonly by: UserId;
  readonly spot: ReplyTarget;
  /** Slack's id of this interaction: it opens a modal and recognises a repeated delivery. */
  readonly trigger: string;
}
