import { countWords } from '../../domain/answer.ts';
import type { AnyBlock, Message } from './blocks.ts';
import { bounded } from './rich-text.ts';

const TEXT_MAX = 2_900;
/** Longer cells end in an ellipsis, so that one name does not push all figures off the screen. */
const COLUMN_MAX = 40;

/**
 * The message for a workspace that does not support the newest blocks: tables and charts become
 * monospaced text. Null when the message has none of them.
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

interface Cell {
  readonly type: string;
  readonly text?: string;
  /** A time, in place of a text. */
  readonly elements?: readonly { readonly elements: readonly { readonly fallback: string }[] }[];
}
interface Table {
  readonly rows: readonly (readonly Cell[])[];
  readonly column_settings?: readonly { readonly align: string }[];
}
interface Point {
  readonly label: string;
  readonly value: number;
}
interface Chart {
  readonly title: string;
  readonly chart: {
    readonly series: readonly { readonly name: string; readonly data: readonly Point[] }[];
    readonly axis_config: { readonly x_label: string };
  };
}

// table.ts and chart.ts build these blocks, so their shapes are known.
function linesOf(block: AnyBlock): readonly string[] {
  if (block.type !== 'data_visualization') return tableLines(block as Table & AnyBlock);
  const { title, chart } = block as Chart & AnyBlock;
  return [title, chart.axis_config.x_label, ...chartLines(chart.series)];
}

/** A line for each label, with the value of the series that has one. */
function chartLines(series: Chart['chart']['series']): readonly string[] {
  return (series[0]?.data ?? []).map(({ label }, index) => {
    const own = series.findLast(({ data }) => data[index]?.value !== 0) ?? series[0];
    const note = own?.name === 'not final' ? ' (not final)' : '';
    return `${label.padEnd(12)} ${own?.data[index]?.value ?? 0}${note}`;
  });
}

function tableLines({ rows, column_settings: settings = [] }: Table): readonly string[] {
  const widths = (rows[0] ?? []).map((_, column) =>
    Math.min(COLUMN_MAX, Math.max(...rows.map((row) => [...textOf(row[column])].length))),
  );
  const isRight = widths.map((_, column) => isAligned(settings[column]?.align, rows, column));
  return rows.map((row) =>
    row
      .map((cell, column) => {
        const text = bounded(textOf(cell), COLUMN_MAX);
        const width = widths[column] ?? 0;
        return isRight[column] ? text.padStart(width) : text.padEnd(width);
      })
      .join('  ')
      .trimEnd(),
  );
}

function textOf(cell: Cell | undefined): string {
  return cell?.text ?? cell?.elements?.[0]?.elements[0]?.fallback ?? '';
}

/** Columns of quantities; a table that can be sorted does not name them. */
function isAligned(align: string | undefined, rows: Table['rows'], column: number): boolean {
  if (align !== undefined) return align === 'right';
  return column > 0 && rows.slice(1).every((row) => row[column]?.type === 'raw_number');
}
