import type { AnswerPart, Cell } from '../../intent/answers/answer.ts';
import { countWords, utcStamp } from '../../intent/answers/texts.ts';
import { type AnyBlock, noteLine, type MessagePart as Shown } from './blocks.ts';
import { bounded, mrkdwnOf, oneLine, visible } from './rich-text.ts';

const CELLS_MAX = 9_000;
const ROWS_MAX = 200;

interface Drawn {
  readonly text: string;
  /** Null without a known value. */
  readonly value: number | null;
  readonly isText: boolean;
}

type Rows = readonly (readonly Drawn[])[];

// Slack rejects the whole message when a table is too large, so the rest of the rows is counted.
export function table(
  part: AnswerPart & { kind: 'table' },
  title: string,
): readonly (Shown | null)[] {
  const header = part.columns.map((text) => text || '–');
  const fitting: Drawn[][] = [];
  let size = header.join('').length;
  for (const row of part.rows.slice(0, ROWS_MAX)) {
    const drawn = row.map(drawnCell);
    size += drawn.reduce((sum, { text }) => sum + text.length, 0);
    if (size > CELLS_MAX) break;
    fitting.push(drawn);
  }
  if (fitting.length === 0) return [noteLine('Nothing to show.')];
  const left = part.rows.length - fitting.length;
  const rest = left > 0 ? noteLine(`${countWords(left, 'more row')} not shown.`) : null;
  return [grid(header, fitting, part.caption ?? title), rest];
}

function drawnCell(cell: Cell): Drawn {
  const text = bounded(cellText(cell), 300);
  if (cell === null) return { text, value: null, isText: false };
  const isFigure = typeof cell === 'object' && 'value' in cell;
  return { text, value: isFigure ? cell.value : null, isText: !isFigure };
}

function cellText(cell: Cell): string {
  if (cell === null) return '–';
  if (cell instanceof Date) return utcStamp(cell);
  return oneLine(visible(typeof cell === 'object' ? cell.text : String(cell))).trim() || '–';
}

function grid(header: readonly string[], rows: Rows, caption: string): Shown {
  const heads = header.map((text) => ({ type: 'raw_text', text }));
  const unknown = header.map((_, column) => valueOfUnknown(rows, column));
  const block: AnyBlock = {
    type: 'data_table',
    caption: bounded(visible(caption), 150),
    page_size: 15,
    rows: [heads, ...rows.map((row) => row.map((cell, at) => cellOf(cell, unknown[at] ?? null)))],
  };
  const texts = [header, ...rows.map((row) => row.map(({ text }) => text))];
  return { block, text: texts.map((row) => mrkdwnOf([row.join(' · ')])).join('\n') };
}

/**
 * Slack sorts a column by value only if every cell has one, and as text otherwise. Unknown cells
 * therefore get a hidden value below all others. Null for a column that is sorted as text.
 */
function valueOfUnknown(rows: Rows, column: number): number | null {
  const cells = rows.flatMap((row) => row[column] ?? []);
  const values = cells.flatMap(({ value }) => value ?? []);
  if (values.length === 0 || cells.some(({ isText }) => isText)) return null;
  return values.reduce((least, value) => Math.min(least, value)) - 1;
}

function cellOf({ text, value }: Drawn, unknown: number | null) {
  const sorted = value ?? unknown;
  return sorted === null ? { type: 'raw_text', text } : { type: 'raw_number', value: sorted, text };
}
