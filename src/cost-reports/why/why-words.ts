import type { Answer } from '../../domain/answer.ts';
import { versusWord } from '../../maths/period.ts';
import { type CostQuestion, wordsOfScope } from '../../maths/question.ts';
import { costOffer, unclearAnswer } from '../question/cost-question.ts';

/** The same question, compared with the previous period. */
export function previousWords({ period, scope }: CostQuestion): string {
  return [`${period.first}..${period.last}`, ...wordsOfScope(scope)].join(' ');
}

/** The words of the question after `cost why`. */
export function whyWords(question: CostQuestion): string {
  const { period, versus, top } = question;
  const word = versusWord(period, versus ?? 'prev');
  const words = [
    previousWords(question),
    top === null ? null : `top ${top}`,
    versus === null && word === 'prev' ? null : `vs ${word}`,
  ];
  return words.filter((each) => each !== null).join(' ');
}

/** The lines are always services with their metrics, on settled days: other words are refused. */
export function wordsRefusal(question: CostQuestion): Answer | null {
  const { by, finalOnly, period, scope } = question;
  if (period.lastFinalOnly || finalOnly) {
    const text =
      '“final” is not possible here: days unchanged for 2 days are compared as well. Use instead:';
    const words = period.lastFinalOnly
      ? ['7d', ...wordsOfScope(scope)].join(' ')
      : whyWords(question);
    return unclearAnswer(text, [costOffer(`cost why ${words}`)]);
  }
  if (by === 'service') return null;
  const text = '“by” is not possible here: the lines are services with their metrics. Use instead:';
  return unclearAnswer(text, [costOffer(`cost why ${whyWords(question)}`)]);
}
