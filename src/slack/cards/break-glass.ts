import { type Change, isEnded } from '../../domain/change.ts';
import type { BreakGlassEvent } from '../../workflow/messenger-port.ts';
import { type Button, fact } from '../blocks/blocks.ts';
import type { Line } from '../blocks/rich-text.ts';
import { cardLink } from './card-link.ts';
import { type DrawContext, mentionOf } from './draw-context.ts';
import { lowerActionText } from './naming.ts';

/** On the card: who used break-glass and why, and who reviewed it. */
export function breakGlassLines(change: Change): readonly Line[] {
  const { breakGlass, review } = change;
  if (!breakGlass) return [];
  const { by, at, reason } = breakGlass;
  return [
    fact('⚠ Break-glass by', { user: by }, ', ', { at }, ': ', reason),
    review
      ? fact('Reviewed by', { user: review.by }, ', ', { at: review.at }, ': ', review.note)
      : fact('Reviewed by', 'nobody yet'),
  ];
}

/** The line in the thread. It mentions the skipped approvers, or after a review the requester. */
export function breakGlassThreadLine(
  news: BreakGlassEvent,
  change: Change,
  drawing: DrawContext,
): Line {
  const { from, breakGlass } = change.requires;
  const fact = breakGlassFact(news, change, drawing);
  if (news === 'reviewed') return [{ user: change.requester }, ' ', ...fact];
  const next = ' Someone else must review it afterwards, with the button on ';
  const card = cardLink(change, 'the card', drawing.linkOf);
  return [...mentionOf(from ?? breakGlass, drawing), ' ', ...fact, next, card, '.'];
}

/** The same for the audit channel, without a mention. */
export function breakGlassFact(
  news: BreakGlassEvent,
  change: Change,
  { linkOf }: DrawContext,
): Line {
  const { breakGlass, review, requires, id } = change;
  const what: Line = [`“${lowerActionText(change)}” (`, cardLink(change, id, linkOf), ')'];
  if (news === 'reviewed' && review) {
    return [{ user: review.by }, ' reviewed the break-glass use of ', ...what, `: ${review.note}`];
  }
  if (!breakGlass) throw new Error(`${id} was not run with break-glass`);
  return [
    { user: breakGlass.by },
    ' used break-glass: ',
    ...what,
    ` runs without the approvals of rule ${requires.rule}. `,
    `Reason: ${breakGlass.reason}.`,
  ];
}

export function breakGlassButton({ id }: Change): Button {
  return { id: 'change.break-glass', label: 'Use break-glass…', value: id, inMenu: true };
}

/** A break-glass change is reviewed however it ended, because nobody approved it. */
export function reviewButtons(change: Change): readonly Button[] {
  const { id, breakGlass, review } = change;
  if (!breakGlass || review || !isEnded(change)) return [];
  return [{ id: 'change.review', label: 'Mark as reviewed…', value: id }];
}
