import { useState } from 'react';
import { amount, textOf } from '../json.ts';
import { Cell } from './cell.tsx';
import { wordsOf } from './cell-value.ts';
import type { BlockProps } from './shown.tsx';
import { rowsOf } from './table.tsx';
import { nextOrder, type Order, type Row, sorted } from './table-order.ts';

export function DataTable({ block }: BlockProps) {
  const [order, setOrder] = useState<Order | null>(null);
  const [page, setPage] = useState(0);
  const [head = [], ...body] = rowsOf(block);
  const size = amount(block.page_size) ?? 5;
  const from = Math.min(page * size, Math.max(0, body.length - 1));

  function sortBy(column: number) {
    setOrder(nextOrder(order, column));
    setPage(0);
  }

  return (
    <div className="table-around data-table">
      <table className="table">
        <caption>{textOf(block.caption)}</caption>
        <thead>
          <tr>
            {head.map((cell, column) => (
              // biome-ignore lint/suspicious/noArrayIndexKey: a column's position is its identity
              <th key={column} scope="col" aria-sort={sortOf(order, column)}>
                <button type="button" className="sort" onClick={() => sortBy(column)}>
                  {wordsOf(cell)}
                  <span className="sort-mark" aria-hidden="true">
                    {order?.column !== column ? '' : order.descending ? ' ↓' : ' ↑'}
                  </span>
                </button>
              </th>
            ))}
          </tr>
        </thead>
        <Body
          rows={sorted(body, order).slice(from, from + size)}
          named={amount(block.row_header_column_index) ?? 0}
        />
      </table>
      {body.length > size && <Pager {...{ from, size, count: body.length, page, setPage }} />}
    </div>
  );
}

function sortOf(order: Order | null, column: number): 'ascending' | 'descending' | 'none' {
  if (order?.column !== column) return 'none';
  return order.descending ? 'descending' : 'ascending';
}

function Body({ rows, named }: { rows: readonly Row[]; named: number }) {
  return (
    <tbody>
      {rows.map((row, at) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: rows carry no id of their own
        <tr key={at}>
          {row.map((cell, column) => {
            const Tag = column === named ? 'th' : 'td';
            return (
              // biome-ignore lint/suspicious/noArrayIndexKey: a column's position is its identity
              <Tag key={column} {...(Tag === 'th' ? { scope: 'row' } : {})}>
                <Cell cell={cell} />
              </Tag>
            );
          })}
        </tr>
      ))}
    </tbody>
  );
}

interface PagerProps {
  readonly from: number;
  readonly size: number;
  readonly count: number;
  readonly page: number;
  readonly setPage: (page: number) => void;
}

function Pager({ from, size, count, page, setPage }: PagerProps) {
  const until = Math.min(from + size, count);
  return (
    <nav className="pager" aria-label="Pages of the table">
      <span>
        {from + 1}–{until} of {count}
      </span>
      <button
        type="button"
        aria-label="Previous page"
        disabled={page === 0}
        onClick={() => setPage(page - 1)}
      >
        ‹
      </button>
      <button
        type="button"
        aria-label="Next page"
        disabled={until >= count}
        onClick={() => setPage(page + 1)}
      >
        ›
      </button>
    </nav>
  );
}
