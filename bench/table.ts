import type { Line } from './summary.ts';

type Cells = readonly string[];

const HEAD = ['', 'blank', 'bare Bolt', 'Signalbox', 'ratio', 'rounds', 'aim', ''];

/** The summary for a terminal: words to the left, numbers to the right. */
export function table(lines: readonly Line[]): string {
  const cells = [HEAD, ...lines.map(cellsOf)];
  const widths = HEAD.map((_, column) => Math.max(...cells.map((row) => row[column]?.length ?? 0)));
  return cells.map((row) => aligned(row, widths)).join('\n');
}

function aligned(row: Cells, widths: readonly number[]): string {
  return row
    .map((cell, column) => {
      const width = widths[column] ?? 0;
      return column === 0 ? cell.padEnd(width) : cell.padStart(width);
    })
    .join('  ')
    .trimEnd();
}

function cellsOf({ label, digits, blank, bare, signalbox, ratio, aim, met }: Line): Cells {
  return [
    label,
    ...[blank, bare, signalbox].map((value) => value.toFixed(digits)),
    ratio ? ratio.of.toFixed(2) : '',
    ratio ? `${ratio.from.toFixed(2)} … ${ratio.to.toFixed(2)}` : '',
    aim,
    met === null ? '' : met ? 'met' : 'missed',
  ];
}
