import type { Intent, ParseResult } from '../../commands/define.ts';
import { nounOf, type QueryCommand } from '../../commands/define.ts';
import { type HelpReader, helpFor } from '../../commands/help.ts';
import type { Answer } from '../../domain/answer.ts';
import type { Change } from '../../domain/change.ts';
import type { Denial } from '../../domain/gate.ts';
import { authorizeForms, authorizeQuery } from '../../workflow/authorize.ts';
import { frequentCommands } from '../../workflow/queries/frequent-commands.ts';
import { answerMessage } from '../blocks/answer-blocks.ts';
import type { Message } from '../blocks/blocks.ts';
import { answerWithCard } from '../cards/answer-with-card.ts';
import { rolesLine } from '../cards/naming.ts';
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
  const answer = await sendFiles(
    bot.clients.posts,
    (names) => bot.context.messenger.findChannels(names),
    typed,
    found,
  );
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

/** Help works for every user. Without an identity it lists no command as usable. */
export async function answerHelp(
  bot: SlackContext,
  { by }: CommandLine,
  { noun, about }: ParseResult & { readonly kind: 'help' },
): Promise<Message> {
  const { context, commands, prefix } = bot;
  const names = commands.map(({ name }) => name);
  const [authorized, frequent] = await Promise.all([
    authorizeForms(context, by, names),
    frequentCommands(context, by),
  ]);
  const usable = authorized.ok ? authorized.commands : [];
  const reader: HelpReader = {
    who: authorized.ok
      ? rolesLine(context.policy, authorized.roles)
      : [refusalMessage(authorized.denial, bot.drawing).text],
    mayUse: ({ name }) => usable.includes(name),
    frequent,
    note: authorized.ok ? discoveredNote(authorized.onDiscovered) : null,
    prefix,
  };
  const of = commands.some((command) => nounOf(command) === noun) ? noun : null;
  return answerMessage(helpFor({ noun: of, about }, commands, reader));
}

function discoveredNote(commands: readonly string[] | null): string | null {
  if (commands === null) return null;
  return commands.length > 0
    ? `Of services that are not in signalbox.yaml, a rule can allow you: ${commands.join(', ')}.`
    : 'Services that are not in signalbox.yaml: no rule allows you to change them.';
}
