import type { Change, ChangeId } from '../../changes/change.ts';
import { denialOf } from '../../workflow/denial.ts';
import { loadChange } from '../../workflow/load-change.ts';
import { isAsLeft } from '../../workflow/revert/unchanged-since.ts';
import { sentenceMessage } from '../blocks/answer-blocks.ts';
import type { Message } from '../blocks/blocks.ts';
import { lowerDeed } from '../cards/naming.ts';
import { refusalLine } from '../cards/refusals.ts';
import type { Bot } from '../slack-context.ts';
import { answerTyped, type Typed } from './typed-command.ts';

/** Types what takes a change back, for whoever pressed: as a new change, with their own rights. */
export async function undo(bot: Bot, typed: Typed, id: ChangeId): Promise<Message | null> {
  const change = await loadChange(bot.world, id);
  const inverse = change && inverseOf(bot, change);
  if (change?.state !== 'succeeded' || !inverse) return notFound(bot);
  const line = `${inverse.line} undo of ${change.id}`;
  if (await isAsLeft(bot.world, change)) return typeLine(bot, typed, line);
  const moved = `What “${lowerDeed(change)}” (${id}) changed has been changed again since. To take it back would undo more than that.`;
  return sentenceMessage([moved], [{ label: `${inverse.label} anyway`, line }]);
}

/** The same for a return that did not run by itself: that things moved is what it said already. */
export async function takeBack(bot: Bot, typed: Typed, id: ChangeId): Promise<Message | null> {
  const child = await loadChange(bot.world, id);
  const parent = child?.parent ? await loadChange(bot.world, child.parent) : null;
  const inverse = parent && inverseOf(bot, parent);
  if (!parent || !inverse) return notFound(bot);
  return typeLine(bot, typed, `${inverse.line} undo of ${parent.id}`);
}

function inverseOf({ world }: Bot, { command, plan }: Change) {
  return world.commands.get(command)?.undo(plan.target, plan.before, plan.body) ?? null;
}

function typeLine(bot: Bot, typed: Typed, line: string): Promise<Message | null> {
  const [noun = '', ...rest] = line.split(' ');
  return answerTyped(bot, { ...typed, noun, text: rest.join(' ') });
}

function notFound({ drawing }: Bot): Message {
  return sentenceMessage(refusalLine(denialOf('not-found'), drawing.policy, drawing.prefix));
}
