import type { UserId } from '../../changes/change.ts';
import type { QueryCommand } from '../../intent/define.ts';
import type { Intent } from '../../intent/parse/understood.ts';
import { decide } from '../../policy/decide.ts';
import { type Denial, denialOf } from '../../workflow/denial.ts';
import type { Identity } from '../../workflow/ports.ts';
import { noteRefusal } from '../../workflow/record.ts';
import type { Message } from '../blocks/blocks.ts';
import { ownAnswer } from '../cards/answer-with-offers.ts';
import { refusalMessage } from '../cards/refusals.ts';
import { sendFiles } from '../outbound/upload.ts';
import type { SlackContext } from '../slack-context.ts';
import type { Typed } from './typed.ts';

/** Authorizes a query like a change, answers it, and records a refusal. */
export async function answerQuery(
  bot: SlackContext,
  typed: Typed,
  command: QueryCommand,
  args: Intent['args'],
): Promise<Message> {
  const { by, spot } = typed;
  const denial = await mayAsk(bot, by, command, args);
  if (denial) return answerRefusal(bot, denial);
  const found = await command.answer(args, bot.context.commandContext(), {
    by,
    channel: spot.channel,
  });
  const answer = await sendFiles(bot, typed, found);
  bot.context.measures.answered(command.name, 'answered');
  return ownAnswer(answer, bot.drawing);
}

async function mayAsk(
  { context }: SlackContext,
  by: UserId,
  command: QueryCommand,
  args: Intent['args'],
): Promise<Denial | null> {
  const identity = await context.people.identify(by, { fresh: false });
  const denial = await denialOfQuery(context, identity, command, args);
  if (denial) await noteRefusal(context, denial, { tried: command.name, by, identity });
  return denial;
}

async function denialOfQuery(
  context: SlackContext['context'],
  identity: Identity,
  command: QueryCommand,
  args: Intent['args'],
): Promise<Denial | null> {
  const about = { command: command.name };
  if (!identity.ok) return denialOf(identity.refusal, about);

  const decision = decide(context.policy, {
    kind: 'query',
    command: command.name,
    target: command.target(args),
    actor: identity.actor,
    reason: null,
    now: context.now(),
  });
  if (decision.allow) return null;
  const { refusal, rule } = decision;
  const role = rule?.to ?? null;
  const who = role ? await context.people.membersOf(role) : null;
  return denialOf(refusal, { ...about, rule: rule?.place ?? null, role, who });
}

/** The refusal of a command, which is counted. */
export function answerRefusal({ context, drawing }: SlackContext, denial: Denial): Message {
  context.measures.answered(denial.command ?? 'none', 'refused');
  return refusalMessage(denial, drawing);
}
