import type { Answer } from '../../intent/answers/answer.ts';
import { createDenial } from '../../workflow/denial.ts';
import { answerMessage } from '../blocks/answer-blocks.ts';
import { type AnyBlock, lines, type Message, message } from '../blocks/blocks.ts';
import { changeCard } from './card.ts';
import { cardPlace } from './card-link.ts';
import type { DrawContext } from './draw-context.ts';
import { ownBlock } from './private-block.ts';
import { refusalMessage } from './refusals.ts';

/** An answer with the card of its change, without the buttons that this reader may not use. */
export function answerWithCard(answer: Answer, drawing: DrawContext): Message {
  const { change, refused } = answer;
  if (refused) {
    const denial = createDenial(refused.refusal, { change: refused.change });
    return refusalMessage(denial, drawing);
  }
  const events = answerMessage(answer, drawing.linkOf);
  if (!change) return events;
  const card = changeCard(change.change, drawing);
  const blocks = card.blocks.flatMap((block) => without(block, change.hidden));
  const where = cardPlace(change.change, 'Card', drawing.linkOf);
  const place = message(where.length > 0 ? lines(where) : null);
  return {
    text: [card.text, place.text, events.text].filter(Boolean).join('\n'),
    blocks: [...blocks, ...place.blocks, ...events.blocks],
  };
}

function without(block: AnyBlock, hidden: readonly string[]): readonly AnyBlock[] {
  if (block.type !== 'actions' || !('elements' in block)) return [block];
  const elements = [...(block.elements as readonly { readonly action_id?: string }[])].filter(
    ({ action_id = '' }) => !hidden.includes(action_id),
  );
  const block_id = ownBlock(block.block_id ?? '');
  return elements.length === 0 ? [] : [{ ...block, block_id, elements } as AnyBlock];
}
