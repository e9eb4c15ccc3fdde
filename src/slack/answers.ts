import type { Answer, Cell, Offer, Part } from '../intent/answer.ts';
import {
  type AnyBlock,
  buttons,
  fact,
  lines,
  type Message,
  menu,
  message,
  note,
  type Part as Shown,
  title,
} from './blocks.ts';
import { bounded, type Inline, type Line, mrkdwnOf, oneLine, visible } from './rich.ts';

const CELLS_MAX = 9_000;
const ROWS_MAX = 200;
const OFFERS_MAX = 5;
const LINE_MAX = 2_000;

/** A query's answer as a message. Cells and texts are literal, whoever wrote them. */
export function answerMessage(answer: Answer): Message {
  const parts = answer.parts.flatMap((part) => shownPart(part, answer.title));
  return message(title(answer.title), ...parts);
}

export function sentenceMessage(sentence: Line, offers: readonly Offer[] = []): Message {
  return message(lines(sentence), offerButtons(offers));
}

function shownPart(part: Part, caption: string): readonly (Shown | null)[] {
  switch (part.kind) {
    case 'text':
      return [lines([part.text])];
    case 'note':
      return [note(part.text)];
    case 'lines':
      return [lines(...part.lines)];
    case 'facts':
      return [lines(...part.facts.map(([label, cell]) => fact(label, inlineOf(cell))))];
    case 'table':
      return table(part.columns, part.rows, caption);
    case 'file':
      return [note(`${part.name} is in your messages with Signalbox.`)];
    case 'chart':
      return [chart(part)];
    case 'offers':
      return [offerButtons(part.offers)];
    case 'deeds':
      return [buttons(`deeds.${part.deeds[0]?.value ?? ''}`, ...part.deeds)];
    case 'menu':
      return [menu('command.menu', part.label, part.offers)];
  }
}

function offerButtons(offers: readonly Offer[]): Shown | null {
  // A line that a button cannot hold is not cut to fit: it would ask for something else.
  const fitting = offers.filter(({ line }) => line.length <= LINE_MAX);
  const all = fitting.slice(0, OFFERS_MAX).map(({ label, line }, index) => ({
    id: `command.${index}`,
    label,
    value: line,
  }));
  return buttons('offers', ...all);
}

function inlineOf(cell: Cell): Inline {
  if (cell === null) return 'not known';
  if (cell instanceof Date) return { at: cell };
  return typeof cell === 'object' ? cell.text : String(cell);
}

function cellText(cell: Cell): string {
  if (cell === null) return '–';
  if (cell instanceof Date) return `${cell.toISOString().slice(0, 16).replace('T', ' ')} UTC`;
  return oneLine(visible(typeof cell === 'object' ? cell.text : String(cell))).trim() || '–';
}

interface Drawn {
  readonly text: string;
  /** Where the whole column has figures, it is sorted by them and not by their texts. */
  readonly value: number | null;
}

// Slack refuses the whole message when one table is too large: rows that do not fit are counted.
function table(
  columns: readonly string[],
  rows: readonly (readonly Cell[])[],
  caption: string,
): readonly (Shown | null)[] {
  const header = columns.map((text) => text || '–');
  const fitting: Drawn[][] = [];
  let size = header.join('').length;
  for (const row of rows.slice(0, ROWS_MAX)) {
    const drawn = row.map(drawnCell);
    size += drawn.reduce((sum, { text }) => sum + text.length, 0);
    if (size > CELLS_MAX) break;
    fitting.push(drawn);
  }
  const left = rows.length - fitting.length;
  const rest = left > 0 ? note(`${left} more rows do not fit here.`) : null;
  return fitting.length === 0 ? [note('Nothing to show.')] : [grid(header, fitting, caption), rest];
}

function drawnCell(cell: Cell): Drawn {
  const isFigure = typeof cell === 'object' && cell !== null && 'value' in cell;
  const value = isFigure ? cell.value : null;
  return { text: bounded(cellText(cell), 300), value };
}

function grid(
  header: readonly string[],
  rows: readonly (readonly Drawn[])[],
  caption: string,
): Shown {
  const cell = ({ text, value }: Drawn) =>
    value === null ? { type: 'raw_text', text } : { type: 'raw_number', value, text };
  const heads = header.map((text) => ({ type: 'raw_text', text }));
  const block: AnyBlock = {
    type: 'data_table',
    caption: bounded(visible(caption), 150),
    page_size: 15,
    rows: [heads, ...rows.map((row) => row.map(cell))],
  };
  const texts = [header, ...rows.map((row) => row.map(({ text }) => text))];
  return { block, text: texts.map((row) => mrkdwnOf([row.join(' · ')])).join('\n') };
}

const POINTS_MAX = 20;

function chart({ title: heading, unit, points }: Part & { kind: 'chart' }): Shown | null {
  const shown = points.slice(-POINTS_MAX).map(({ label, value }) => ({
    label: bounded(oneLine(visible(label)), 20),
    value: Math.round(value * 100) / 100,
  }));
  if (shown.length === 0) return null;
  const block: AnyBlock = {
    type: 'data_visualization',
    title: bounded(visible(heading), 50),
    chart: {
      type: 'bar',
      series: [{ name: bounded(unit, 20), data: shown }],
      axis_config: { categories: shown.map(({ label }) => label), y_label: bounded(unit, 50) },
    },
  };
  const words = shown.map(({ label, value }) => `${label} ${value}`).join(', ');
  return { block, text: mrkdwnOf([`${heading}: ${words}`]) };
}
