import type { UserId } from '../../changes/change.ts';
import { denialOf } from '../../workflow/denial.ts';
import { paceOfAsking } from '../../workflow/limits/command-rate.ts';
import type { ReplyTo } from '../../workflow/ports.ts';
import type { Receipt } from '../../workflow/review/click-intake.ts';
import { sentenceMessage } from '../blocks/answer-blocks.ts';
import type { Message } from '../blocks/blocks.ts';
import { refusalLine } from '../cards/refusals.ts';
import type { Bot } from '../slack-context.ts';

const denial = denialOf('too-many');

/** Answers, unless this person asks for too much at once: that is said to them, and said once. */
export async function atPace(
  bot: Bot,
  by: UserId,
  answer: () => Promise<Message | null>,
): Promise<Message | null> {
  const pace = await paceOfAsking(bot.world, by);
  if (pace === 'fine') return answer();
  const { policy } = bot.world;
  return pace === 'over' ? sentenceMessage(refusalLine(denial, policy, bot.prefix)) : null;
}

/** What follows after a press was acknowledged: it is handled, or whoever pressed hears why not. */
export async function goOn(bot: Bot, receipt: Receipt, replyTo: ReplyTo): Promise<void> {
  if (receipt === 'fine' || receipt === 'again') return bot.world.wake();
  if (receipt === 'long-over') return;
  await bot.world.messenger.answerPress(replyTo, { ok: false, denial });
}
