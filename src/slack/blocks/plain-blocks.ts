import type { AnyBlock, Message } from './blocks.ts';
import { bounded } from './rich-text.ts';

const TEXT_MAX = 2_900;

/**
 * The message for a workspace that does not support the newest blocks: tables and charts become
 * monospaced text. Null when the message has none of them.
 */
export function inPlainBlocks({ text, blocks }: Message): Message | null {
  if (!blocks.some(isNew)) return null;
  return { text, blocks: blocks.map((block) => (isNew(block) ? plainBlock(block) : block)) };
}

function isNew({ type }: AnyBlock): boolean {
  return type === 'data_table' || type === 'data_visualization';
}

function plainBlock(block: AnyBlock): AnyBlock {
  const text = bounded(linesOf(block).join('\n'), TEXT_MAX) || '–';
  const elements = [{ type: 'rich_text_preformatted', elements: [{ type: 'text', text }] }];
  return { type: 'rich_text', elements };
}

interface Cell {
  readonly text: string;
}
interface Point {
  readonly label: string;
  readonly value: number;
}
interface Chart {
  readonly title: string;
  readonly chart: {
    readonly series: readonly { readonly data: readonly Point[] }[];
    readonly axis_config: { readonly x_label: string };
  };
}

// table.ts and chart.ts build both blocks, so their shapes are known.
function linesOf(block: AnyBlock): readonly string[] {
  if (block.type === 'data_table') return tableLines((block as { rows: Cell[][] } & AnyBlock).rows);
  const { title, chart } = block as Chart & AnyBlock;
  const points = chart.series[0]?.data ?? [];
  const lines = points.map(({ label, value }) => `${label.padEnd(12)} ${value}`);
  return [title, chart.axis_config.x_label, ...lines];
}

function tableLines(rows: readonly (readonly Cell[])[]): readonly string[] {
  const widths = (rows[0] ?? []).map((_, column) =>
    Math.max(...rows.map((row) => [...(row[column]?.text ?? '')].length)),
  );
  return rows.map((row) =>
    row
      .map(({ text }, column) => text.padEnd(widths[column] ?? 0))
      .join('  ')
      .trimEnd(),
  );
}
