import { commandLine } from '../../commands/arguments.ts';
import type { Change, ChangeId } from '../../domain/change.ts';
import { createDenial } from '../../domain/gate.ts';
import { authorizeForm } from '../../workflow/authorize.ts';
import { loadForUser } from '../../workflow/find-change.ts';
import { isUnchangedSince } from '../../workflow/revert/inverse.ts';
import { sentenceMessage } from '../blocks/answer-blocks.ts';
import type { Message } from '../blocks/blocks.ts';
import type { Line } from '../blocks/rich-text.ts';
import { cardLink } from '../cards/card-link.ts';
import { lowerActionText } from '../cards/naming.ts';
import { mayRequestAgain } from '../cards/parts/card-buttons.ts';
import { refusalMessage } from '../cards/refusals.ts';
import type { CommandLine, SlackContext } from '../slack-context.ts';
import { answerLine } from './typed-command.ts';

/** Requests the inverse of a change as a new change of the user who pressed. */
export async function undo(
  bot: SlackContext,
  typed: CommandLine,
  id: ChangeId,
): Promise<Message | null> {
  const change = await loadForUser(bot.context, id);
  const inverse = change && inverseOf(bot, change);
  if (change?.state !== 'succeeded' || !inverse) return notFound(bot);
  const [noun, verb] = inverse.line.split(' ');
  const request = { commands: [`${noun} ${verb}`], by: typed.by, record: true };
  const authorized = await authorizeForm(bot.context, request);
  if (!authorized.ok) return refusalMessage(authorized.denial, bot.drawing);
  const line = `${inverse.line} undo of ${change.id}`;
  if (await isUnchangedSince(bot.context, change)) return answerLine(bot, typed, line);
  await bot.permalinks.load([change.card]);
  const warning: Line = [
    `The target was changed again after “${lowerActionText(change)}” (`,
    cardLink(change, id, bot.drawing.linkOf),
    '). An undo would also undo the later changes.',
  ];
  return sentenceMessage(warning, [{ label: `${inverse.label} anyway`, line }]);
}

/** Requests a revert that did not run; its thread has already reported why. */
export async function revertNow(
  bot: SlackContext,
  typed: CommandLine,
  id: ChangeId,
): Promise<Message | null> {
  const child = await loadForUser(bot.context, id);
  const parent = child?.parent ? await loadForUser(bot.context, child.parent) : null;
  const inverse = parent && inverseOf(bot, parent);
  if (!parent || !inverse) return notFound(bot);
  return answerLine(bot, typed, `${inverse.line} undo of ${parent.id}`);
}

/** Requests a change that was not run, for the current values, as a new change of the user who pressed. */
export async function requestAgain(
  bot: SlackContext,
  typed: CommandLine,
  id: ChangeId,
): Promise<Message | null> {
  const change = await loadForUser(bot.context, id);
  const command = change && bot.context.commands.get(change.command);
  const isVisible = change?.card || change?.requester === typed.by;
  if (!command || !isVisible || !mayRequestAgain(change)) return notFound(bot);
  const { args, target } = change.plan;
  const given = Object.entries(args).map(([name, value]) => {
    // By its id: the target may have another name by now.
    return [name, name === target.kind ? target.id : String(value)] as const;
  });
  const line = commandLine(command, Object.fromEntries(given), change.reason ?? '');
  return answerLine(bot, typed, line);
}

function inverseOf({ context }: SlackContext, { command, plan }: Change) {
  return context.commands.get(command)?.undo(plan.target, plan.before, plan.body) ?? null;
}

function notFound({ drawing }: SlackContext): Message {
  return refusalMessage(createDenial('not-found'), drawing);
}
