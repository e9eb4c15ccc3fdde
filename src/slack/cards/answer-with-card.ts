import type { Answer } from '../../domain/answer.ts';
import { createDenial } from '../../domain/gate.ts';
import { answerMessage } from '../blocks/answer-blocks.ts';
import { lines, type Message, message } from '../blocks/blocks.ts';
import { blockId, changeCard } from './card.ts';
import { cardPlace } from './card-link.ts';
import type { DrawContext } from './draw-context.ts';
import { ownBlock } from './private-block.ts';
import { refusalMessage } from './refusals.ts';

/** An answer with the card of its change, without the buttons that this reader may not use. */
export function answerWithCard(answer: Answer, drawing: DrawContext): Message {
  const { change, refused } = answer;
  if (refused) {
    const { refusal, ...about } = refused;
    return refusalMessage(createDenial(refusal, about), drawing);
  }
  const events = answerMessage(answer, drawing);
  if (!change) return events;
  const block = ownBlock(blockId(change.change));
  const card = changeCard(change.change, drawing, { hidden: change.hidden, block });
  const where = cardPlace(change.change, 'Card', drawing.linkOf);
  const place = message(where.length > 0 ? lines(where) : null);
  return {
    text: [card.text, place.text, events.text].filter(Boolean).join('\n'),
    blocks: [...card.blocks, ...place.blocks, ...events.blocks],
  };
}
