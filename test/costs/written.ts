import type {
  Answer,
  AnswerPart,
  Cell,
  ChartPoint,
  FactValue,
  InlinePart,
} from '../../src/domain/answer.ts';
import { utcStamp } from '../../src/domain/answer.ts';

/** An answer as it is read, one line for each thing that is said. */
export function written({ title, parts }: Answer): string {
  return [title, ...parts.flatMap(linesOf)].join('\n');
}

function linesOf(part: AnswerPart): readonly string[] {
  switch (part.kind) {
    case 'text':
      return [part.text];
    case 'note':
      return [
        [
          ...(part.asOf ? [`As of ${utcStamp(part.asOf)}`] : []),
          part.text,
          ...(part.next ? [`${part.next.label} ${utcStamp(part.next.at)}`] : []),
        ]
          .filter(Boolean)
          .join(' · '),
      ];
    case 'lines':
      return part.lines.map((line) => line.map(inlineOf).join(''));
    case 'facts':
      return part.facts.map(([label, cell]) => `${label}: ${factOf(cell)}`);
    case 'table':
      return [part.columns, ...part.rows.map((row) => row.map(cellOf))].map((row) =>
        row.join(' | '),
      );
    case 'chart':
      return [`chart of ${part.points.length}, the last ${pointOf(part.points.at(-1))}`];
    default:
      return [part.kind];
  }
}

function pointOf(point: ChartPoint | undefined): string {
  return point?.label ?? 'none';
}

function factOf(value: FactValue): string {
  return Array.isArray(value) ? value.map(inlineOf).join('') : cellOf(value as Cell);
}

function inlineOf(part: InlinePart): string {
  if (typeof part === 'string') return part;
  if ('bold' in part) return part.bold;
  if ('at' in part) return utcStamp(part.at);
  return 'user' in part ? `@${part.user}` : part.group;
}

function cellOf(cell: Cell): string {
  if (cell === null) return '–';
  if (cell instanceof Date) return cell.toISOString();
  return typeof cell === 'object' ? cell.text : String(cell);
}
