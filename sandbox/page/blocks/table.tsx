import { type Json, list, stringOf } from '../../json.ts';
import { TableBody } from './data-table.tsx';
import { cellText } from './table-order.ts';

/** A table block: columns with an alignment, without order and pages. */
export function TableBlock({ block }: { block: Json }) {
  const [head = [], ...body] = Array.isArray(block.rows) ? block.rows.map(list) : [];
  const classes = list(block.column_settings).map(({ align, is_wrapped }) =>
    [stringOf(align), is_wrapped === true ? '' : 'unwrapped'].join(' '),
  );
  return (
    <div className="table-scroll">
      <table className="table">
        <thead>
          <tr>
            {head.map((cell, column) => (
              // biome-ignore lint/suspicious/noArrayIndexKey: a column has no id other than its position
              <th key={column} scope="col" className={classes[column] ?? ''}>
                {cellText(cell)}
              </th>
            ))}
          </tr>
        </thead>
        <TableBody rows={body} classOf={(_, column) => classes[column] ?? ''} />
      </table>
    </div>
  );
}
