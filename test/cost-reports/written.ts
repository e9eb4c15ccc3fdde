import type { Answer, AnswerPart, Cell } from '../../src/intent/answers/answer.ts';

/** An answer as it is read, one line for each thing that is said. */
export function written({ title, parts }: Answer): string {
  return [title, ...parts.flatMap(linesOf)].join('\n');
}

function linesOf(part: AnswerPart): readonly string[] {
  switch (part.kind) {
    case 'text':
    case 'note':
      return [part.text];
    case 'facts':
      return part.facts.map(([label, cell]) => `${label}: ${cellOf(cell)}`);
    case 'table':
      return [part.columns, ...part.rows.map((row) => row.map(cellOf))].map((row) =>
        row.join(' | '),
      );
    case 'chart':
      return [`chart of ${part.points.length}, the last ${part.points.at(-1)?.label}`];
    default:
      return [part.kind];
  }
}

function cellOf(cell: Cell): string {
  if (cell === null) return '–';
  if (cell instanceof Date) return cell.toISOString();
  return typeof cell === 'object' ? cell.text : String(cell);
}
