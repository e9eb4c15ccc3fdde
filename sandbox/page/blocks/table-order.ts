import type { Json } from '../../protocol.ts';
import { numberOf, wordsOf } from './cell-value.ts';

export interface Order {
  readonly column: number;
  readonly descending: boolean;
}

export type Row = readonly Json[];

/** A column of nothing but numbers sorts by their value, any other by its words. */
export function sorted(rows: readonly Row[], order: Order | null): readonly Row[] {
  if (order === null) return rows;
  const { column, descending } = order;
  const numeric = rows.every((row) => numberOf(row[column]) !== null);
  const compare = (a: Row, b: Row) =>
    numeric
      ? (numberOf(a[column]) ?? 0) - (numberOf(b[column]) ?? 0)
      : wordsOf(a[column]).localeCompare(wordsOf(b[column]), 'en', { numeric: true });
  return rows.toSorted((a, b) => (descending ? -compare(a, b) : compare(a, b)));
}

/** A press sorts upwards, the next one downwards, the third gives the bot's own order back. */
export function nextOrder(order: Order | null, column: number): Order | null {
  if (order?.column !== column) return { column, descending: false };
  return order.descending ? null : { column, descending: true };
}
