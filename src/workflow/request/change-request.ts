import type { ChangeId, ChannelId, UserId } from '../../changes/change.ts';
import type { TypedValues } from '../../intent/arguments/arguments.ts';
import type { RequestedTiming } from '../../intent/arguments/timing.ts';
import type { ChangeCommand } from '../../intent/define.ts';

export interface ChangeRequest {
  readonly command: ChangeCommand;
  readonly args: Readonly<Record<string, unknown>>;
  readonly given: TypedValues;
  /** Missing: as soon as it may, and for good. */
  readonly timing?: RequestedTiming;
  readonly reason: string | null;
  readonly requester: UserId;
  readonly origin: ChannelId | null;
  /** The draft that this one takes the place of: two live previews would be two cards. */
  readonly edits: ChangeId | null;
  /** Slack's own mark of this one interaction: a request that comes twice is drafted once. */
  readonly key: string;
}
