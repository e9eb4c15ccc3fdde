import type { UserId } from '../../changes/change.ts';
import type { QueryCommand } from '../../intent/define.ts';
import type { Intent } from '../../intent/parse/understood.ts';
import { decide } from '../../policy/decide.ts';
import { type Denial, denialOf } from '../../workflow/denial.ts';
import type { Identity } from '../../workflow/ports.ts';
import { noteRefusal } from '../../workflow/record.ts';
import { sentenceMessage } from '../blocks/answer-blocks.ts';
import type { Message } from '../blocks/blocks.ts';
import { ownAnswer } from '../cards/answer-with-offers.ts';
import { refusalLine } from '../cards/refusals.ts';
import { sendFiles } from '../outbound/upload.ts';
import type { Bot } from '../slack-context.ts';
import type { Typed } from './typed-command.ts';

/** A question is decided like a change, and its refusal written down. */
export async function answerQuery(
  bot: Bot,
  typed: Typed,
  command: QueryCommand,
  args: Intent['args'],
): Promise<Message> {
  const { by, spot } = typed;
  const denial = await mayAsk(bot, by, command, args);
  if (denial) return refused(bot, denial);
  const found = await command.answer(args, bot.world.reach(), { by, channel: spot.channel });
  const answer = await sendFiles(bot, typed, found);
  bot.world.measures.answered(command.name, 'answered');
  return ownAnswer(answer, bot.drawing);
}

async function mayAsk(
  { world }: Bot,
  by: UserId,
  command: QueryCommand,
  args: Intent['args'],
): Promise<Denial | null> {
  const identity = await world.people.identify(by, { fresh: false });
  const denial = await denialOfQuery(world, identity, command, args);
  if (denial) await noteRefusal(world, denial, { tried: command.name, by, identity });
  return denial;
}

async function denialOfQuery(
  world: Bot['world'],
  identity: Identity,
  command: QueryCommand,
  args: Intent['args'],
): Promise<Denial | null> {
  const about = { command: command.name };
  if (!identity.ok) return denialOf(identity.refusal, about);

  const decision = decide(world.policy, {
    kind: 'query',
    command: command.name,
    target: command.target(args),
    actor: identity.actor,
    reason: null,
    now: world.now(),
  });
  if (decision.allow) return null;
  const { refusal, rule } = decision;
  const role = rule?.to ?? null;
  const who = role ? await world.people.membersOf(role) : null;
  return denialOf(refusal, { ...about, rule: rule?.place ?? null, role, who });
}

export function refused({ world, drawing }: Bot, denial: Denial): Message {
  const { policy, prefix } = drawing;
  world.measures.answered(denial.command ?? 'none', 'refused');
  return sentenceMessage(refusalLine(denial, policy, prefix));
}
