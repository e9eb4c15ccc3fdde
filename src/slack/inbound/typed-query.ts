import type { Change } from '../../changes/change.ts';
import type { Answer } from '../../intent/answers/answer.ts';
import type { QueryCommand } from '../../intent/define.ts';
import type { Intent } from '../../intent/parse/parse-result.ts';
import { authorizeQuery } from '../../workflow/authorize.ts';
import type { Denial } from '../../workflow/denial.ts';
import type { Message } from '../blocks/blocks.ts';
import { answerWithCard } from '../cards/answer-with-card.ts';
import { refusalMessage } from '../cards/refusals.ts';
import { sendFiles } from '../outbound/upload.ts';
import type { CommandLine, SlackContext } from '../slack-context.ts';

/** Answers a query that the policy allows. */
export async function answerQuery(
  bot: SlackContext,
  typed: CommandLine,
  command: QueryCommand,
  args: Intent['args'],
): Promise<Message> {
  const { by, replyTarget } = typed;
  const request = { command: command.name, target: command.target(args), by };
  const authorized = await authorizeQuery(bot.context, request);
  if (!authorized.ok) return answerRefusal(bot, authorized.denial);
  const found = await command.answer(args, bot.context.commandContext(), {
    by,
    channel: replyTarget.channel,
  });
  const answer = await sendFiles(bot, typed, found);
  bot.context.measures.answered(command.name, 'answered');
  await bot.permalinks.load(cardsIn(answer));
  return answerWithCard(answer, bot.drawing);
}

function cardsIn({ change, parts }: Answer): readonly Change['card'][] {
  const listed = parts.flatMap((part) => (part.kind === 'changes' ? part.changes : []));
  return [...(change ? [change.change] : []), ...listed].map(({ card }) => card);
}

/** The refusal of a command, which is counted. */
export function answerRefusal({ context, drawing }: SlackContext, denial: Denial): Message {
  context.measures.answered(denial.command ?? 'none', 'refused');
  return refusalMessage(denial, drawing);
}
