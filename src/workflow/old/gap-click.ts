import { z } from 'zod';
import type { ChannelId, UserId } from '../../domain/change.ts';
import type { ClaimedClick } from '../../log/old/inbox.ts';
import { acceptGap, type GapPress } from './accept-gap.ts';
import { StoredReplyTo } from './click.ts';
import { enqueueClick, type Receipt } from './click-intake.ts';
import type { ReplyTo } from './clicks.ts';
import type { DecisionContext } from './ports.ts';

export const GAP = 'gap';

const Stored = z.object({
  gap: z.string(),
  by: z.string().transform((id) => id as UserId),
  message: z.object({ channel: z.string().transform((id) => id as ChannelId), ts: z.string() }),
  replyTo: StoredReplyTo,
});

/** Stores a press of “Accept gap…” before Slack's acknowledgement. */
export async function receiveGapClick(
  context: DecisionContext,
  { key, gap, by, message }: GapPress,
  replyTo: ReplyTo,
): Promise<Receipt> {
  const press = { gap, by, message: { ...message }, replyTo: { ...replyTo } };
  const body = { ...press, verb: 'accept gap' };
  return enqueueClick(context, { key, kind: GAP, body, by, at: context.now() });
}

/** Handles one stored press. Its decision is stored in the same commit; its answer may be lost. */
export async function handleGapClick(context: DecisionContext, click: ClaimedClick): Promise<void> {
  const { messenger, log } = context;
  const { replyTo, ...press } = Stored.parse(click.body);
  const outcome = await acceptGap(context, { ...press, key: click.key });
  messenger.answerIncidentClick(replyTo, outcome, click).catch((error: unknown) => {
    log.warn({ err: error, gap: press.gap }, 'ephemeral answer was not delivered');
  });
}
