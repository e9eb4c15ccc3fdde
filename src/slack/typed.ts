import { randomUUID } from 'node:crypto';
import type { ChannelId, UserId } from '../changes/change.ts';
import type { ChangeCommand, QueryCommand } from '../intent/define.ts';
import { helpFor } from '../intent/help.ts';
import { lineOf, type Understood, understand } from '../intent/understand.ts';
import { decide } from '../policy/decide.ts';
import { commandsFor } from '../policy/explain.ts';
import { denialOf } from '../workflow/denial.ts';
import { requestChange } from '../workflow/request.ts';
import { answerMessage, sentenceMessage } from './answers.ts';
import { type Message, withNote } from './blocks.ts';
import type { Bot } from './bot.ts';
import { openCommandModal } from './modal.ts';
import { preview } from './preview.ts';
import { refusalLine } from './refusals.ts';

/** A line that somebody typed, or a button that types it for them. */
export interface Typed {
  readonly noun: string;
  readonly text: string;
  readonly by: UserId;
  readonly channel: ChannelId | null;
  /** Slack's mark of this one interaction; opens a modal, and tells a repetition from a second. */
  readonly trigger: string;
}

type Intent = Understood & { kind: 'intent' };

/** What the person reads in private; null where a modal was opened instead. */
export async function answerTyped(bot: Bot, typed: Typed): Promise<Message | null> {
  const vocabulary = { commands: bot.commands, services: bot.world.reach().services };
  const understood = understand(typed.noun, typed.text, vocabulary);
  switch (understood.kind) {
    case 'help':
      return help(bot, typed, understood.noun);
    case 'misread':
      return sentenceMessage([understood.sentence], understood.offers);
    case 'incomplete':
      await openCommandModal(bot, typed, understood.command, understood.given);
      return null;
    case 'intent':
      return answerIntent(bot, typed, understood);
  }
}

export async function answerIntent(bot: Bot, typed: Typed, intent: Intent): Promise<Message> {
  const { command } = intent;
  const answer =
    command.kind === 'query'
      ? await answerQuery(bot, typed, command, intent.args)
      : await answerRequest(bot, typed, command, intent);
  // A slash command leaves no trace in the channel, so that its answer says what was understood.
  return withNote(answer, lineOf(intent));
}

async function answerQuery(
  { world, drawing }: Bot,
  { by }: Typed,
  command: QueryCommand,
  args: Intent['args'],
): Promise<Message> {
  const identity = await world.people.identify(by, { fresh: false });
  const about = { command: command.name };
  if (!identity.ok) return refused(denialOf(identity.refusal, about), drawing);

  const decision = decide(world.policy, {
    kind: 'query',
    command: command.name,
    target: command.target(args),
    actor: identity.actor,
    reason: null,
    now: world.now(),
  });
  if (decision.allow) return answerMessage(await command.answer(args, world.reach()));

  const { refusal, rule } = decision;
  const role = rule?.to ?? null;
  const who = role ? await world.people.membersOf(role) : null;
  return refused(denialOf(refusal, { ...about, rule: rule?.place ?? null, role, who }), drawing);
}

async function answerRequest(
  { world, drawing }: Bot,
  { by, channel, trigger }: Typed,
  command: ChangeCommand,
  { args, given, reason }: Intent,
): Promise<Message> {
  const request = { command, args, given, reason, requester: by, origin: channel };
  const requested = await requestChange(world, { ...request, key: `request:${trigger}` });
  if (!requested.ok) return refused(requested.denial, drawing);
  return preview(requested.draft, requested.others, drawing);
}

function refused(denial: Parameters<typeof refusalLine>[0], { policy }: Bot['drawing']): Message {
  return sentenceMessage(refusalLine(denial, policy));
}

/** Help works for everybody, and says when it could not find out who is asking. */
async function help(bot: Bot, { by }: Typed, noun: string): Promise<Message> {
  const { world, commands } = bot;
  const identity = await world.people.identify(by, { fresh: false });
  const names = commands.map(({ name }) => name);
  const usable = identity.ok ? commandsFor(world.policy, names, identity.actor) : [];
  const of = commands.some(({ name }) => name.startsWith(`${noun} `)) ? noun : null;
  return answerMessage(helpFor(of, commands, ({ name }) => usable.includes(name)));
}

/** For what is our fault: the person gets a reference, the log has the rest. */
export function faultMessage(bot: Bot, error: unknown): Message {
  const ref = randomUUID().slice(0, 8);
  bot.log.error({ err: error, ref }, 'a person was told that something went wrong');
  return sentenceMessage([
    `Something went wrong on our side, and nothing was changed (ref ${ref}).`,
  ]);
}
