import {
  type AnswerPart,
  type Cell,
  type ChartPoint,
  countWords,
  utcStamp,
} from '../domain/answer.ts';
import {
  type AnyBlock,
  type Message,
  type MessagePart,
  noteLine,
  type MessagePart as Shown,
} from './blocks.ts';
import { bounded, dateElement, mrkdwnOf, oneLine, type RichInline, visible } from './rich-text.ts';

// Tables and charts, and their plain text for a workspace that does not support these blocks.

const CELLS_MAX = 9_000;
const ROWS_MAX = 200;
const PAGE_ROWS = 15;

interface DrawnCell {
  readonly text: string;
  /** What the column is sorted by; null: not known, undefined: by its text. */
  readonly value: number | null | undefined;
  /** A time, drawn in the zone of the reader. */
  readonly at: Date | null;
}

type Rows = readonly (readonly DrawnCell[])[];

// Slack rejects the whole message when a table is too large, so the rest of the rows is counted.
export function table(
  part: AnswerPart & { kind: 'table' },
  title: string,
): readonly (Shown | null)[] {
  const header = part.columns.map((text) => text || '–');
  const fitting: DrawnCell[][] = [];
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
  const lines = [header, ...fitting.map((row) => row.map(inlineOf))];
  const text = lines.map((line) => mrkdwnOf(line, ' · ')).join('\n');
  return [{ block: sortedTable(header, fitting, part.caption ?? title), text }, rest];
}

function drawnCell(cell: Cell): DrawnCell {
  const text = bounded(cellText(cell), 300);
  const at = cell instanceof Date ? cell : null;
  const isText = cell !== null && (typeof cell !== 'object' || !('value' in cell));
  return { text, value: isText ? undefined : (cell?.value ?? null), at };
}

function cellText(cell: Cell): string {
  if (cell === null) return '–';
  if (cell instanceof Date) return utcStamp(cell);
  return oneLine(visible(typeof cell === 'object' ? cell.text : String(cell))).trim() || '–';
}

function inlineOf({ text, at }: DrawnCell): RichInline {
  return at ? { at } : text;
}

/** Rows that the reader can sort, in pages. */
function sortedTable(header: readonly string[], rows: Rows, caption: string) {
  const heads = header.map((text) => ({ type: 'raw_text', text }));
  const unknown = header.map((_, column) => valueOfUnknown(rows, column));
  return {
    type: 'data_table',
    caption: bounded(visible(caption), 150),
    page_size: PAGE_ROWS,
    rows: [heads, ...rows.map((row) => row.map((cell, at) => cellOf(cell, unknown[at] ?? null)))],
  };
}

/**
 * Slack sorts a column by value only if every cell has one, and as text otherwise. Unknown cells
 * therefore get a hidden value below all others. Null for a column that is sorted as text.
 */
function valueOfUnknown(rows: Rows, column: number): number | null {
  const cells = rows.flatMap((row) => row[column] ?? []);
  if (cells.some(({ value }) => value === undefined)) return null;
  const values = cells.flatMap(({ value }) => value ?? []);
  return values.length === 0 ? null : Math.min(...values) - 1;
}

function cellOf(cell: DrawnCell, unknown: number | null) {
  const { text, value } = cell;
  const sorted = value ?? unknown;
  return sorted === null ? textCell(cell) : { type: 'raw_number', value: sorted, text };
}

function textCell({ text, at }: DrawnCell) {
  if (!at) return { type: 'raw_text', text };
  const elements = [dateElement(at, { format: '{date_short_pretty} {time}', fallback: text })];
  return { type: 'rich_text', elements: [{ type: 'rich_text_section', elements }] };
}

/** The changed fields with their values before and after, in their order; names are literal. */
export function beforeAfterTable(rows: readonly (readonly [string, Cell, Cell])[]): Shown {
  const drawn = rows.map((row) => row.map(drawnCell));
  const heads = ['Field', 'Before', 'After'].map((text) => ({ type: 'raw_text', text }));
  const cells = [heads, ...drawn.map((row) => row.map(textCell))];
  const settings = heads.map(() => ({ align: 'left', is_wrapped: true }));
  const block = { type: 'table', column_settings: settings, rows: cells };
  return { block, text: drawn.map(changeText).join('\n') };
}

function changeText([field, before, after]: readonly DrawnCell[]): string {
  const [label, was, is] = [field, before, after].map((cell) => (cell ? inlineOf(cell) : ''));
  return mrkdwnOf([label ?? '', '  ', was ?? '', ' → ', is ?? '']);
}

const POINTS_MAX = 20;

/** A bar chart with the same figures as text. */
export function chart(part: AnswerPart & { kind: 'chart' }): MessagePart | null {
  const { title, axis, points } = part;
  const shown = points.slice(-POINTS_MAX).map(({ label, value }) => ({
    label: bounded(oneLine(visible(label)), 20),
    value: Math.round(value * 100) / 100,
  }));
  if (shown.length === 0) return null;
  const words = shown.map(({ label, value }) => `${label}: ${value}`);
  const text = mrkdwnOf([`${title} · ${axis} · ${words.join(', ')}`]);
  return { block: barChart(part, shown), text };
}

function barChart(
  { title, unit, axis }: AnswerPart & { kind: 'chart' },
  data: readonly ChartPoint[],
) {
  return {
    type: 'data_visualization',
    title: bounded(visible(title), 50),
    chart: {
      type: 'bar',
      series: [{ name: bounded(unit, 50), data }],
      axis_config: {
        categories: data.map(({ label }) => label),
        x_label: bounded(axis, 50),
        y_label: bounded(unit, 50),
      },
    },
  };
}

const TEXT_MAX = 2_900;

/**
 * Sends a message, and once more without tables and charts if the workspace rejects those: it then rejects the whole
 * message.
 */
export async function withPlainBlocks<T>(
  message: Message,
  send: (shown: Message) => Promise<T>,
): Promise<T> {
  return send(message).catch((error: unknown) => {
    const plain = String(error).includes('invalid_blocks') ? inPlainBlocks(message) : null;
    if (!plain) throw error;
    return send(plain);
  });
}

/**
 * The message for a workspace that does not support the newest blocks: tables and charts become
 * lines of text. Null when the message has none of them.
 */
export function inPlainBlocks({ text, blocks }: Message): Message | null {
  if (!blocks.some(isNew)) return null;
  return { text, blocks: blocks.map((block) => (isNew(block) ? plainBlock(block) : block)) };
}

function isNew({ type }: AnyBlock): boolean {
  return type === 'table' || type === 'data_table' || type === 'data_visualization';
}

function plainBlock(block: AnyBlock): AnyBlock {
  const text = fitting(linesOf(block)).join('\n') || '–';
  const elements = [{ type: 'rich_text_preformatted', elements: [{ type: 'text', text }] }];
  return { type: 'rich_text', elements };
}

/** The first lines that fit into one block, and the number of the others. */
function fitting(lines: readonly string[]): readonly string[] {
  let size = 0;
  const fits = lines.filter((line) => {
    size += line.length + 1;
    return size <= TEXT_MAX;
  });
  const left = lines.length - fits.length;
  return left > 0 ? [...fits, `${countWords(left, 'more row')} not shown.`] : fits;
}

type Table = ReturnType<typeof sortedTable>;

// The functions above build these blocks, so their shapes are known.
function linesOf(block: AnyBlock): readonly string[] {
  if (block.type !== 'data_visualization') {
    const { rows, caption } = block as unknown as Partial<Table> & Pick<Table, 'rows'>;
    // Without a heading, only the caption says what the table shows.
    return [...(caption ? [caption] : []), ...rows.map((row) => row.map(textOf).join(' · '))];
  }
  const { title, chart } = block as unknown as ReturnType<typeof barChart>;
  const data = chart.series.flatMap((one) => one.data);
  const points = data.map(({ label, value }) => `${label.padEnd(12)} ${value}`);
  return [title, chart.axis_config.x_label, ...points];
}

function textOf(cell: Table['rows'][number][number]): string {
  if ('text' in cell) return cell.text;
  return String(cell.elements[0]?.elements[0]?.fallback ?? '');
}
