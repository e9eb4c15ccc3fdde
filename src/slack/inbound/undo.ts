import type { Change, ChangeId } from '../../changes/change.ts';
import { createDenial } from '../../workflow/denial.ts';
import { loadForUser } from '../../workflow/find-change.ts';
import { isUnchangedSince } from '../../workflow/revert/inverse.ts';
import { sentenceMessage } from '../blocks/answer-blocks.ts';
import type { Message } from '../blocks/blocks.ts';
import { lowerActionText } from '../cards/naming.ts';
import { refusalMessage } from '../cards/refusals.ts';
import type { SlackContext } from '../slack-context.ts';
import type { Typed } from './typed.ts';
import { answerTyped } from './typed-command.ts';

/** Requests the inverse of a change as a new change of the user who pressed. */
export async function undo(bot: SlackContext, typed: Typed, id: ChangeId): Promise<Message | null> {
  const change = await loadForUser(bot.context, id);
  const inverse = change && inverseOf(bot, change);
  if (change?.state !== 'succeeded' || !inverse) return notFound(bot);
  const line = `${inverse.line} undo of ${change.id}`;
  if (await isUnchangedSince(bot.context, change)) return typeLine(bot, typed, line);
  const warning =
    `The target was changed again after “${lowerActionText(change)}” (${id}). ` +
    'An undo would also undo the later changes.';
  return sentenceMessage([warning], [{ label: `${inverse.label} anyway`, line }]);
}

/** Requests a revert that did not run; its thread has already reported why. */
export async function revertNow(
  bot: SlackContext,
  typed: Typed,
  id: ChangeId,
): Promise<Message | null> {
  const child = await loadForUser(bot.context, id);
  const parent = child?.parent ? await loadForUser(bot.context, child.parent) : null;
  const inverse = parent && inverseOf(bot, parent);
  if (!parent || !inverse) return notFound(bot);
  return typeLine(bot, typed, `${inverse.line} undo of ${parent.id}`);
}

function inverseOf({ context }: SlackContext, { command, plan }: Change) {
  return context.commands.get(command)?.undo(plan.target, plan.before, plan.body) ?? null;
}

function typeLine(bot: SlackContext, typed: Typed, line: string): Promise<Message | null> {
  const [noun = '', ...rest] = line.split(' ');
  return answerTyped(bot, { ...typed, noun, text: rest.join(' ') });
}

function notFound({ drawing }: SlackContext): Message {
  return refusalMessage(createDenial('not-found'), drawing);
}
