import type { ReplyTo } from '../../workflow/clicks.ts';
import { isDatabaseAway } from '../../workflow/limits/database-unavailable.ts';
import type { Receipt } from '../../workflow/review/click-intake.ts';
import { sentenceMessage } from '../blocks/answer-blocks.ts';
import { NO_REPLY_TARGET, postEphemeral } from '../outbound/post.ts';
import type { SlackContext } from '../slack-context.ts';

export const DATABASE_AWAY =
  'Signalbox cannot reach its database, so nothing was done. Try again in a minute.';
const NOT_STORED =
  'Signalbox cannot reach its database, so your click was not recorded. Try again in a minute.';

/**
 * A press that cannot be stored is not acknowledged: Slack marks it as failed, and the words for
 * that come from us. They come later, so that they hold up nothing.
 */
export async function storeOrReply(
  bot: SlackContext,
  { url, user }: ReplyTo,
  store: () => Promise<Receipt>,
): Promise<Receipt> {
  try {
    return await store();
  } catch (error) {
    if (isDatabaseAway(error)) {
      const told = sentenceMessage([NOT_STORED]);
      const telling = url
        ? bot.respond(url, { ...told, replace: false })
        : postEphemeral(bot.clients.posts, user, NO_REPLY_TARGET, told);
      telling.catch((failed: unknown) => {
        bot.log.warn({ err: failed }, 'nobody was told that a press was not stored');
      });
    }
    throw error;
  }
}
