import type { Answer } from '../../intent/answers/answer.ts';
import { createDenial } from '../../workflow/denial.ts';
import { answerMessage } from '../blocks/answer-blocks.ts';
import type { AnyBlock, Message } from '../blocks/blocks.ts';
import { changeCard } from './card.ts';
import type { Drawing } from './drawing.ts';
import { refusalMessage } from './refusals.ts';

/** An answer with the card of its change, without the buttons that this reader may not use. */
export function ownAnswer(answer: Answer, drawing: Drawing): Message {
  const { change, refused } = answer;
  if (refused) {
    const denial = createDenial(refused.refusal, { change: refused.change });
    return refusalMessage(denial, drawing);
  }
  const message = answerMessage(answer);
  if (!change) return message;
  const card = changeCard(change.change, drawing);
  const blocks = card.blocks.flatMap((block) => without(block, change.hidden));
  return { text: `${card.text}\n${message.text}`, blocks: [...blocks, ...message.blocks] };
}

function without(block: AnyBlock, hidden: readonly string[]): readonly AnyBlock[] {
  if (block.type !== 'actions' || !('elements' in block)) return [block];
  const elements = [...(block.elements as readonly { readonly action_id?: string }[])].filter(
    ({ action_id = '' }) => !hidden.includes(action_id),
  );
  return elements.length === 0 ? [] : [{ ...block, elements } as AnyBlock];
}
