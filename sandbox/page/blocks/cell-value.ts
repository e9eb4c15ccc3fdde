import type { Json } from '../../protocol.ts';
import { amount, word } from '../json.ts';

export function numberOf(cell: Json | undefined): number | null {
  return cell?.type === 'raw_number' ? amount(cell.value) : null;
}

export function wordsOf(cell: Json | undefined): string {
  if (cell === undefined) return '';
  if (cell.type === 'rich_text') return leaves(cell).join('');
  return word(cell.text) || String(numberOf(cell) ?? '');
}

function leaves(node: unknown): readonly string[] {
  if (Array.isArray(node)) return node.flatMap(leaves);
  if (typeof node !== 'object' || node === null) return [];
  if ('text' in node && typeof node.text === 'string') return [node.text];
  return 'elements' in node ? leaves(node.elements) : [];
}
