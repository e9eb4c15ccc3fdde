import { z } from 'zod';
import type { CostRow } from '../../costs/ledger/row.ts';
import type { Db, Tx } from '../../storage/engine/database.ts';
import { decode } from '../../storage/engine/portable.ts';
import { dropMeta, metaUnder, readMeta, replaceMeta } from '../../storage/tables/meta.ts';

const StoredRow = z
  .object({
    day: z.string(),
    entityId: z.string(),
    entityName: z.string(),
    kind: z.enum(['warehouse', 'service', 'pipe']),
    serviceId: z.string().nullable(),
    warehouseId: z.string().nullable(),
    total: z.int(),
  })
  .transform((row): CostRow => ({ ...row, metrics: {}, locked: false }));

const StoredRecord = z.object({
  /** The first report after the end of the month: one row per entity and price. */
  first: z.object({
    at: z.iso.datetime().transform((at) => new Date(at)),
    rows: z.array(StoredRow).readonly(),
  }),
  /** The keys of the announcements that are in the outbox. */
  announced: z.array(z.string()).readonly(),
  /** No further announcement of this month is needed. */
  done: z.boolean(),
});

/** What Signalbox knows about the end of a month. */
export type ClosingRecord = z.infer<typeof StoredRecord>;

export interface StoredClosing {
  /** The stored text, to replace it only if it did not change; null for none. */
  readonly text: string | null;
  readonly record: ClosingRecord | null;
}

/** `month` as 2026-10. */
export interface ClosingKey {
  readonly month: string;
  readonly organizationId: string;
}

const PREFIX = 'closing/';

function keyOf({ month, organizationId }: ClosingKey): string {
  return `${PREFIX}${month}/${organizationId}`;
}

export async function readClosing(db: Db, key: ClosingKey): Promise<StoredClosing> {
  const text = await readMeta(db, keyOf(key));
  return { text, record: text === null ? null : decode(StoredRecord, text, keyOf(key)) };
}

/** False: another replica stored a record meanwhile. */
export function storeClosing(
  tx: Tx,
  key: ClosingKey,
  before: StoredClosing,
  { first, ...rest }: ClosingRecord,
): Promise<boolean> {
  const rows = first.rows.map(
    ({ day, entityId, entityName, kind, serviceId, warehouseId, total }) => {
      return { day, entityId, entityName, kind, serviceId, warehouseId, total };
    },
  );
  const record = { ...rest, first: { at: first.at.toISOString(), rows } };
  return replaceMeta(tx, keyOf(key), before.text, JSON.stringify(record));
}

export async function dropClosing(tx: Tx, key: ClosingKey): Promise<void> {
  await dropMeta(tx, keyOf(key));
}

/** The months of this organization with a record, done or not, the earliest first. */
export async function recordedMonths(db: Db, organizationId: string): Promise<readonly string[]> {
  const all = await metaUnder(db, PREFIX);
  return all
    .flatMap(({ key }) => {
      const [, month = '', of] = key.split('/');
      return of === organizationId ? [month] : [];
    })
    .sort();
}
