import { type Change, isEnded } from '../../changes/change.ts';
import type { BreakGlassEvent } from '../../workflow/messenger-port.ts';
import { type Button, fact } from '../blocks/blocks.ts';
import type { Line } from '../blocks/rich-text.ts';
import type { Drawing } from './drawing.ts';
import { lowerActionText } from './naming.ts';
import { mentionOf } from './thread-line.ts';

/** On the card, for everyone: who took it on themselves, and who has looked at it since. */
export function breakGlassLines(change: Change): readonly Line[] {
  const { brokenGlass, review } = change;
  if (!brokenGlass) return [];
  const { by, at, reason } = brokenGlass;
  return [
    fact('! Glass broken by', { user: by }, ', ', { at }, ': ', reason),
    review
      ? fact('Looked at by', { user: review.by }, ', ', { at: review.at }, ': ', review.note)
      : fact('Looked at by', 'nobody yet'),
  ];
}

/** In its thread: calls those whose approval was not waited for, or whoever did not wait. */
export function breakGlassThreadLine(
  news: BreakGlassEvent,
  change: Change,
  drawing: Drawing,
): Line {
  const { from, breakGlass } = change.requires;
  const called: Line =
    news === 'glass' ? mentionOf(from ?? breakGlass, drawing) : [{ user: change.requester }];
  const after = ' Somebody else looks at it afterwards, with the button on the card.';
  return [...called, ' ', ...breakGlassFact(news, change), ...(news === 'glass' ? [after] : [])];
}

/** The same for the trail, where nobody is called. */
export function breakGlassFact(news: BreakGlassEvent, change: Change): Line {
  const { brokenGlass, review, requires, id } = change;
  const what = `“${lowerActionText(change)}” (${id})`;
  if (news === 'reviewed' && review) {
    return [{ user: review.by }, ` has looked at the broken glass of ${what}: ${review.note}`];
  }
  if (!brokenGlass) throw new Error(`No glass was broken for ${id}`);
  return [
    { user: brokenGlass.by },
    ` broke the glass: ${what} goes ahead without the approvals of rule ${requires.rule}. `,
    `The reason: ${brokenGlass.reason}.`,
  ];
}

export function breakGlassButton({ id }: Change): Button {
  return { id: 'change.break-glass', label: 'Break the glass…', value: id, style: 'danger' };
}

/** Whatever became of it: nobody approved it, so somebody has to look. */
export function reviewButtons(change: Change): readonly Button[] {
  const { id, brokenGlass, review } = change;
  if (!brokenGlass || review || !isEnded(change)) return [];
  return [{ id: 'change.review', label: 'I have looked at it…', value: id }];
}
