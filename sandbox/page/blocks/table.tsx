import { type Json, list, stringOf } from '../../json.ts';
import { LibraryBlock } from '../text/library-block.tsx';
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
        <tbody>
          {body.map((row, at) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: a row has no id other than its position
            <tr key={at}>
              {row.map((cell, column) => (
                // biome-ignore lint/suspicious/noArrayIndexKey: a column has no id other than its position
                <td key={column} className={classes[column] ?? ''}>
                  {cell.type === 'rich_text' ? <LibraryBlock block={cell} /> : cellText(cell)}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
