import { type Json, list, numberOf, stringOf } from '../../json.ts';

export interface Order {
  readonly column: number;
  readonly descending: boolean;
}

export type Row = readonly Json[];

const numericValue = (cell: Json | undefined): number | null =>
  cell?.type === 'raw_number' ? numberOf(cell.value) : null;

/** The text of a cell, without the styles of rich text. */
export function cellText(cell: Json | undefined): string {
  if (cell === undefined) return '';
  if (cell.type !== 'rich_text') return stringOf(cell.text) || String(numericValue(cell) ?? '');
  const leaves = list(cell.elements).flatMap(({ elements }) => list(elements));
  return leaves.map(({ text }) => stringOf(text)).join('');
}

/** Sorts a column of numbers by value and any other column by text. */
export function sortRows(rows: readonly Row[], order: Order | null): readonly Row[] {
  if (order === null) return rows;
  const { column, descending } = order;
  const isNumeric = rows.every((row) => numericValue(row[column]) !== null);
  const compare = (a: Row, b: Row) =>
    isNumeric
      ? (numericValue(a[column]) ?? 0) - (numericValue(b[column]) ?? 0)
      : cellText(a[column]).localeCompare(cellText(b[column]), 'en', { numeric: true });
  return rows.toSorted((a, b) => (descending ? -compare(a, b) : compare(a, b)));
}

/** The order after a press on a column head: ascending, then descending, then the bot's order. */
export function nextOrder(order: Order | null, column: number): Order | null {
  if (order?.column !== column) return { column, descending: false };
  return order.descending ? null : { column, descending: true };
}
