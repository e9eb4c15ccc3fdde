import { type Insertable, sql } from 'kysely';
import { compileEach } from './compile-once.ts';
import { encodeMessage, type OutboxMessage } from './outbox-message.ts';
import { toText } from './portable.ts';
import type { OutboxTable, Tx } from './schema.ts';
import type { Statement } from './together.ts';

const COLUMNS = ['change_id', 'kind', 'body', 'not_before', 'attempts'] as const;
export type MessageRow = Pick<Insertable<OutboxTable>, (typeof COLUMNS)[number]>;

export function rowOf(
  { at, ...message }: OutboxMessage & { readonly at: Date },
  attempts = 0,
): MessageRow {
  const { changeId, kind, body } = encodeMessage(message);
  const text = body && JSON.stringify(body);
  return { change_id: changeId, kind, body: text, not_before: toText(at), attempts };
}

/** The statement that stores messages of different kinds or changes. */
export function insertOf(tx: Tx, rows: readonly MessageRow[]): Statement {
  const columns = (row: MessageRow) => COLUMNS.map((column) => row[column]);
  return insertRows(tx, `${rows.length}`, rows.flatMap(columns));
}

const insertRows = compileEach((tx, count, values: readonly unknown[]) => {
  const rows = Array.from({ length: Number(count) }, (_, row) =>
    Object.fromEntries(COLUMNS.map((name, place) => [name, values[row * COLUMNS.length + place]])),
  );
  return (
    tx
      .insertInto('outbox')
      // They have the columns of `MessageRow`.
      .values(rows as unknown as MessageRow[])
      .onConflict((conflict) =>
        conflict
          .columns(['change_id', 'kind'])
          .where('done_at', 'is', null)
          .where('lease_owner', 'is', null)
          .where('body', 'is', null)
          .doUpdateSet({
            not_before: sql`case when excluded.not_before < outbox.not_before
            then excluded.not_before else outbox.not_before end`,
          }),
      )
  );
});
