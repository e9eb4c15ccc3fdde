import { useState } from 'react';
import { type Json, list, numberOf, textOf } from '../../json.ts';
import { LibraryBlock } from '../text/library-block.tsx';
import { cellText, nextOrder, type Order, type Row, sortRows } from './table-order.ts';

export function DataTableBlock({ block }: { block: Json }) {
  const [order, setOrder] = useState<Order | null>(null);
  const [page, setPage] = useState(0);
  const [head = [], ...body] = Array.isArray(block.rows) ? block.rows.map(list) : [];
  const size = numberOf(block.page_size) ?? 5;
  const from = Math.min(page * size, Math.max(0, body.length - 1));
  const until = Math.min(from + size, body.length);

  function sortBy(column: number) {
    setOrder(nextOrder(order, column));
    setPage(0);
  }

  return (
    <div className="table-scroll">
      <table className="table">
        <caption>{textOf(block.caption)}</caption>
        <thead>
          <tr>
            {head.map((cell, column) => (
              // biome-ignore lint/suspicious/noArrayIndexKey: a column has no id other than its position
              <th key={column} scope="col" aria-sort={ariaSort(order, column)}>
                <button type="button" className="sort" onClick={() => sortBy(column)}>
                  {cellText(cell)}
                  <span aria-hidden="true">
                    {order?.column !== column ? '' : order.descending ? ' ↓' : ' ↑'}
                  </span>
                </button>
              </th>
            ))}
          </tr>
        </thead>
        <TableBody
          rows={sortRows(body, order).slice(from, until)}
          headColumn={numberOf(block.row_header_column_index) ?? 0}
          classOf={({ type }) => (type === 'raw_number' ? 'number' : '')}
        />
      </table>
      {body.length > size && (
        <nav className="pager" aria-label="Pages of the table">
          <span>
            {from + 1}–{until} of {body.length}
          </span>
          {[
            { name: 'Previous page', sign: '‹', to: page - 1, isLast: page === 0 },
            { name: 'Next page', sign: '›', to: page + 1, isLast: until >= body.length },
          ].map(({ name, sign, to, isLast }) => (
            <button
              key={name}
              type="button"
              aria-label={name}
              disabled={isLast}
              onClick={() => setPage(to)}
            >
              {sign}
            </button>
          ))}
        </nav>
      )}
    </div>
  );
}

function ariaSort(order: Order | null, column: number): 'ascending' | 'descending' | 'none' {
  if (order?.column !== column) return 'none';
  return order.descending ? 'descending' : 'ascending';
}

interface BodyProps {
  readonly rows: readonly Row[];
  /** The column of heads; missing: none. */
  readonly headColumn?: number;
  readonly classOf: (cell: Json, column: number) => string;
}

export function TableBody({ rows, headColumn, classOf }: BodyProps) {
  return (
    <tbody>
      {rows.map((row, at) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: a row has no id other than its position
        <tr key={at}>
          {row.map((cell, column) => {
            const Tag = column === headColumn ? 'th' : 'td';
            return (
              <Tag
                // biome-ignore lint/suspicious/noArrayIndexKey: a column has no id other than its position
                key={column}
                className={classOf(cell, column)}
                {...(Tag === 'th' ? { scope: 'row' } : {})}
              >
                {/* Raw text is never markup, so it is safe for names from outside. */}
                {cell.type === 'rich_text' ? <LibraryBlock block={cell} /> : cellText(cell)}
              </Tag>
            );
          })}
        </tr>
      ))}
    </tbody>
  );
}
