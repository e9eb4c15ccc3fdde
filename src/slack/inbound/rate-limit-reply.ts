import type { UserId } from '../../changes/change.ts';
import type { ReplyTo } from '../../workflow/clicks.ts';
import { createDenial } from '../../workflow/denial.ts';
import { countCommand } from '../../workflow/limits/command-rate.ts';
import type { Receipt } from '../../workflow/review/click-intake.ts';
import type { Message } from '../blocks/blocks.ts';
import { refusalMessage } from '../cards/refusals.ts';
import type { SlackContext } from '../slack-context.ts';

const denial = createDenial('rate-limited');

/** Answers unless the user exceeds the rate limit, which the first limited request reports. */
export async function withinRateLimit(
  bot: SlackContext,
  by: UserId,
  answer: () => Promise<Message | null>,
): Promise<Message | null> {
  const pace = await countCommand(bot.context, by);
  if (pace === 'ok') return answer();
  return pace === 'limited' ? refusalMessage(denial, bot.drawing) : null;
}

/** After the acknowledgement: starts the work of a stored click, or reports the rate limit. */
export async function goOn(bot: SlackContext, receipt: Receipt, replyTo: ReplyTo): Promise<void> {
  if (receipt === 'ok' || receipt === 'again') return bot.context.wake();
  if (receipt === 'muted') return;
  await bot.context.messenger.answerIncidentClick(replyTo, { ok: false, denial });
}
