import type { Answer, AnswerPart, CommandOffer, FactValue, InlinePart } from '../domain/answer.ts';
import { createDenial } from '../domain/gate.ts';
import {
  buttons,
  fact,
  lines,
  type Message,
  menu,
  message,
  noteElement,
  type MessagePart as Shown,
  title,
} from './blocks.ts';
import { changeCard, outcomeButtons, ownBlock } from './card.ts';
import { type RowDrawing, rowOfChange, rowWithButton } from './home.ts';
import { cardPlace } from './links.ts';
import type { DrawContext } from './naming.ts';
import { MAC_LENGTH } from './place.ts';
import { refusalMessage } from './refusals.ts';
import { type Line, mrkdwnOf } from './rich-text.ts';
import { chart, table } from './tables.ts';

const OFFERS_MAX = 6;
const LINE_MAX = 2_000 - MAC_LENGTH;

/** For answers without changes. */
const UNLINKED: RowDrawing = { linkOf: () => null, commands: new Map() };

/** The answer of a query as a message. Cells and texts are literal, never markup. */
export function answerMessage(answer: Answer, drawing: RowDrawing = UNLINKED): Message {
  const offered = answer.parts.filter(({ kind }) => kind === 'offers');
  const parts = answer.parts.flatMap((part) => {
    return part.kind === 'offers'
      ? [offerButtons(part.offers, offersId(offered.indexOf(part)))]
      : shownPart(part, answer.title, drawing);
  });
  if (answer.title === '') return message(...parts);
  return message(...withHeading(title(answer.title), answer.parts[0], parts));
}

/** A sortable table at the top has the title as its caption, which Slack shows like a heading. */
function withHeading(
  heading: Shown,
  first: AnswerPart | undefined,
  shown: readonly (Shown | null)[],
): readonly (Shown | null)[] {
  const [top, ...rest] = shown;
  const hasTitle = first?.kind === 'table' && first.caption === undefined;
  if (!hasTitle || top?.block.type !== 'data_table') return [heading, ...shown];
  return [{ ...top, text: `${heading.text}\n${top.text}` }, ...rest];
}

/** The buttons below a sentence: the answer to one of them replaces the sentence. */
export const QUESTION = ownBlock('question');

export function sentenceMessage(sentence: Line, offers: readonly CommandOffer[] = []): Message {
  return message(lines(sentence), offerButtons(offers, QUESTION));
}

/** Slack rejects a message with two blocks of one id, and an answer can have two lists of offers. */
function offersId(index: number): string {
  return index === 0 ? 'offers' : `offers.${index}`;
}

function shownPart(
  part: Exclude<AnswerPart, { kind: 'offers' }>,
  title: string,
  drawing: RowDrawing,
): readonly (Shown | null)[] {
  switch (part.kind) {
    case 'text':
      return [lines([part.text])];
    case 'note':
      return [notePart(part)];
    case 'lines':
      return [lines(...part.lines)];
    case 'rows':
      return part.rows.map(rowWithButton);
    case 'changes':
      return part.changes.map((change) => {
        const { text, about } = rowOfChange(change, drawing);
        const show = `change show ${change.id}`;
        return rowWithButton({ text, about: [...about, ` · ${change.id}`], show });
      });
    case 'facts':
      return [lines(...part.facts.map(([label, cell]) => fact(label, ...inlinesOf(cell))))];
    case 'table':
      return table(part, title);
    case 'file':
      // Files are uploaded separately; a note replaces them.
      return [];
    case 'chart':
      return [chart(part)];
    case 'outcome':
      return [buttons(`outcome.${part.change.id}`, ...outcomeButtons(part.change, drawing))];
    case 'actions':
      return [buttons(`actions.${part.actions[0]?.value ?? ''}`, ...part.actions)];
    case 'menu': {
      const choices = part.offers.map(({ label, line }) => ({ label, value: line }));
      return [menu('command.menu', part.label, choices)];
    }
    case 'choices':
      return [menu(part.id, part.label, part.choices)];
  }
}

/** A time is an element of its own: with a date, the text would be mrkdwn, which formats names. */
function notePart({ text, asOf = null, next }: AnswerPart & { kind: 'note' }): Shown | null {
  const all: readonly Line[] = [
    ...(asOf ? [['As of ', { at: asOf }]] : []),
    ...(text === '' ? [] : [[text]]),
    ...(next ? [[`${next.label} `, { at: next.at }]] : []),
  ];
  if (all.length === 0) return null;
  const shown = all.map((line) => mrkdwnOf(line)).join(' · ');
  return { block: { type: 'context', elements: all.map(noteElement) }, text: shown };
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

function inlinesOf(value: FactValue): Line {
  if (value === null) return ['unknown'];
  if (value instanceof Date) return [{ at: value }];
  if (isLine(value)) return value;
  return [typeof value === 'object' ? value.text : String(value)];
}

function isLine(value: FactValue): value is readonly InlinePart[] {
  return Array.isArray(value);
}

/** An answer with the card of its change, without the buttons that this reader may not use. */
export function answerWithCard(answer: Answer, drawing: DrawContext): Message {
  const { change, refused } = answer;
  if (refused) {
    const { refusal, ...about } = refused;
    return refusalMessage(createDenial(refusal, about), drawing);
  }
  const events = answerMessage(answer, drawing);
  if (!change) return events;
  const { version } = change.change;
  const block = ownBlock(`card:${version}`);
  const card = changeCard(change.change, drawing, { hidden: change.hidden, block });
  const where = cardPlace(change.change, 'Card', drawing.linkOf);
  const place = message(where.length > 0 ? lines(where) : null);
  return {
    text: [card.text, place.text, events.text].filter(Boolean).join('\n'),
    blocks: [...card.blocks, ...place.blocks, ...events.blocks],
  };
}
