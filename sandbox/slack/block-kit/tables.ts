import { z } from 'zod';
import { chars } from './objects.ts';
import { ruleBroken } from './problems.ts';
import { RichText } from './rich-text.ts';

// Slack refuses an empty cell.
const RawText = z.strictObject({ type: z.literal('raw_text'), text: chars(20_000) });
const RawNumber = z.strictObject({
  type: z.literal('raw_number'),
  value: z.number(),
  text: chars(20_000),
});
const Cell = z.discriminatedUnion('type', [RawText, RawNumber, RichText]);
const Row = z.array(Cell).min(1).max(20);

export const DataTable = z
  .strictObject({
    type: z.literal('data_table'),
    block_id: chars(255).optional(),
    caption: chars(2000),
    rows: z.array(Row).min(2).max(201),
    page_size: z.int().min(1).max(100).optional(),
    row_header_column_index: z.int().min(0).max(19).optional(),
  })
  .superRefine((table, ctx) => {
    const width = table.rows[0]?.length;
    table.rows.forEach((row, index) => {
      if (row.length === width) return;
      const message = 'all rows must have the same number of cells';
      ctx.addIssue(ruleBroken('uneven_rows', message, ['rows', index]));
    });
    if (table.rows[0]?.some((cell) => cell.type === 'rich_text')) {
      ctx.addIssue(ruleBroken('rich_header', 'header cells may not be rich_text', ['rows', 0]));
    }
  });

export const Table = z.strictObject({
  type: z.literal('table'),
  block_id: chars(255).optional(),
  rows: z.array(Row).min(1).max(100),
  column_settings: z
    .array(
      z.strictObject({
        align: z.enum(['left', 'center', 'right']).optional(),
        is_wrapped: z.boolean().optional(),
      }),
    )
    .max(20)
    .optional(),
});

/** The number of characters in all `text` fields, whichever kinds of cells the table has. */
export function tableChars(value: unknown): number {
  if (Array.isArray(value)) return value.reduce((sum: number, one) => sum + tableChars(one), 0);
  if (typeof value !== 'object' || value === null) return 0;
  return Object.entries(value).reduce(
    (sum, [key, one]) =>
      sum + (key === 'text' && typeof one === 'string' ? [...one].length : tableChars(one)),
    0,
  );
}
