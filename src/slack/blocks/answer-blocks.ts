import type { Answer, AnswerPart, Cell, CommandOffer } from '../../intent/answers/answer.ts';
import { homeRow } from '../cards/home-rows.ts';
import {
  buttons,
  fact,
  lines,
  type Message,
  menu,
  message,
  noteLine,
  type MessagePart as Shown,
  title,
} from './blocks.ts';
import { chart } from './chart.ts';
import { type Line, mrkdwnOf, type RichInline } from './rich-text.ts';
import { table } from './table.ts';

const OFFERS_MAX = 5;
const LINE_MAX = 2_000;

/** The answer of a query as a message. Cells and texts are literal, never markup. */
export function answerMessage(answer: Answer): Message {
  const offered = answer.parts.filter(({ kind }) => kind === 'offers');
  const parts = answer.parts.flatMap((part) => {
    return part.kind === 'offers'
      ? [offerButtons(part.offers, offersId(offered.indexOf(part)))]
      : shownPart(part, answer.title);
  });
  return message(title(answer.title), ...parts);
}

export function sentenceMessage(sentence: Line, offers: readonly CommandOffer[] = []): Message {
  return message(lines(sentence), offerButtons(offers));
}

/** Slack rejects a message with two blocks of one id, and an answer can have two lists of offers. */
function offersId(index: number): string {
  return index === 0 ? 'offers' : `offers.${index}`;
}

function shownPart(
  part: Exclude<AnswerPart, { kind: 'offers' }>,
  caption: string,
): readonly (Shown | null)[] {
  switch (part.kind) {
    case 'text':
      return [lines([part.text])];
    case 'note':
      return [{ ...noteLine(part.text), text: mrkdwnOf([part.text]) }];
    case 'lines':
      return [lines(...part.lines)];
    case 'changes':
      return [
        lines(...part.changes.map((change): Line => [...homeRow(change), ` · ${change.id}`])),
      ];
    case 'facts':
      return [lines(...part.facts.map(([label, cell]) => fact(label, inlineOf(cell))))];
    case 'table':
      return table(part, caption);
    case 'file':
      // Files are uploaded separately; a note replaces them.
      return [];
    case 'chart':
      return [chart(part)];
    case 'deeds':
      return [buttons(`deeds.${part.deeds[0]?.value ?? ''}`, ...part.deeds)];
    case 'menu':
      return [menu('command.menu', part.label, part.offers)];
  }
}

function offerButtons(offers: readonly CommandOffer[], id = offersId(0)): Shown | null {
  // A line that is too long for a button is left out, because a cut line is another command.
  const fitting = offers.filter(({ line }) => line.length <= LINE_MAX);
  const all = fitting.slice(0, OFFERS_MAX).map(({ label, line }, index) => ({
    id: `command.${index}`,
    label,
    value: line,
  }));
  return buttons(id, ...all);
}

function inlineOf(cell: Cell): RichInline {
  if (cell === null) return 'unknown';
  if (cell instanceof Date) return { at: cell };
  return typeof cell === 'object' ? cell.text : String(cell);
}
