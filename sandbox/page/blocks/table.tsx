import type { Json } from '../../protocol.ts';
import { list, word } from '../json.ts';
import { Cell } from './cell.tsx';
import type { BlockProps } from './shown.tsx';

export const rowsOf = (block: Json): readonly (readonly Json[])[] =>
  Array.isArray(block.rows) ? block.rows.map(list) : [];

function lookOf(setting: Json | undefined): string {
  const align = word(setting?.align) || 'left';
  return `${align} ${setting?.is_wrapped === true ? 'wrapped' : 'unwrapped'}`;
}

/** The plain table block: its first row is the head, as in Slack. */
export function Table({ block }: BlockProps) {
  const settings = list(block.column_settings);
  return (
    <div className="table-around">
      <table className="table">
        <tbody>
          {rowsOf(block).map((row, at) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: a row's position is its identity
            <tr key={at}>
              {row.map((cell, column) => {
                const Tag = at === 0 ? 'th' : 'td';
                return (
                  // biome-ignore lint/suspicious/noArrayIndexKey: so is a column's
                  <Tag key={column} className={lookOf(settings[column])}>
                    <Cell cell={cell} />
                  </Tag>
                );
              })}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
