import type { ChannelId } from '../../domain/change.ts';
import type { ReplyTo } from '../../workflow/clicks.ts';
import { isDatabaseUnavailable } from '../../workflow/limits/database-unavailable.ts';
import type { Receipt } from '../../workflow/review/click-intake.ts';
import { sentenceMessage } from '../blocks/answer-blocks.ts';
import { replyPrivately } from '../outbound/reply.ts';
import type { SlackContext } from '../slack-context.ts';

export const DATABASE_AWAY =
  'Signalbox cannot reach its database, so nothing was done. Try again in a minute.';
const NOT_STORED =
  'Signalbox cannot reach its database, so your click was not recorded. Try again in a minute.';

/**
 * Stores a click. When the database is unavailable, the error is thrown, so that the click is not
 * acknowledged and Slack marks it as failed; the explanation is sent without waiting for it.
 */
export async function storeOrReply(
  bot: SlackContext,
  { url, user, channel, thread }: ReplyTo,
  store: () => Promise<Receipt>,
): Promise<Receipt> {
  try {
    return await store();
  } catch (error) {
    if (isDatabaseUnavailable(error)) {
      const notice = sentenceMessage([NOT_STORED]);
      const interaction = {
        url,
        user,
        replyTarget: { channel: channel as ChannelId | null, thread },
      };
      replyPrivately(bot, interaction, notice).catch((failed: unknown) => {
        bot.log.warn({ err: failed }, 'a failed click could not be reported to the user');
      });
    }
    throw error;
  }
}
