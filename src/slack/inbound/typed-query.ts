import type { QueryCommand } from '../../intent/define.ts';
import type { Intent } from '../../intent/parse/understood.ts';
import { authorizeQuery } from '../../workflow/authorize.ts';
import type { Denial } from '../../workflow/denial.ts';
import type { Message } from '../blocks/blocks.ts';
import { ownAnswer } from '../cards/answer-with-offers.ts';
import { refusalMessage } from '../cards/refusals.ts';
import { sendFiles } from '../outbound/upload.ts';
import type { SlackContext } from '../slack-context.ts';
import type { Typed } from './typed.ts';

/** Answers a query that the policy allows. */
export async function answerQuery(
  bot: SlackContext,
  typed: Typed,
  command: QueryCommand,
  args: Intent['args'],
): Promise<Message> {
  const { by, spot } = typed;
  const request = { command: command.name, target: command.target(args), by };
  const authorized = await authorizeQuery(bot.context, request);
  if (!authorized.ok) return answerRefusal(bot, authorized.denial);
  const found = await command.answer(args, bot.context.commandContext(), {
    by,
    channel: spot.channel,
  });
  const answer = await sendFiles(bot, typed, found);
  bot.context.measures.answered(command.name, 'answered');
  return ownAnswer(answer, bot.drawing);
}

/** The refusal of a command, which is counted. */
export function answerRefusal({ context, drawing }: SlackContext, denial: Denial): Message {
  context.measures.answered(denial.command ?? 'none', 'refused');
  return refusalMessage(denial, drawing);
}
