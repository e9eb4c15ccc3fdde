import type { Selectable } from 'kysely';
import { z } from 'zod';
import type { JsonObject } from '../../base/text.ts';
import {
  decode,
  JsonFields,
  StoredInstant,
  toText,
  UnreadableRowError,
} from '../engine/portable.ts';
import { onPostgres } from '../engine/postgres.ts';
import type { Db, KnownTable, Tx } from './schema.ts';

export interface ServiceObservation {
  readonly id: string;
  readonly name: string;
  /** The facts of this source; empty if it only named the service. */
  readonly fields: JsonObject;
  readonly source: string;
  readonly seenAt: Date;
}

/** `seenAt` and `source` are those of the newest facts; other fields may be older. */
interface DirectoryEntry extends ServiceObservation {
  readonly fieldSeenAt: Readonly<Record<string, Date>>;
}

/** Replies may be stored out of order, so that each field keeps its newest value. */
export async function learnService(tx: Tx, learned: ServiceObservation): Promise<void> {
  const inserted = await tx
    .insertInto('known_service')
    .values(firstRow(learned))
    .onConflict((conflict) => conflict.doNothing())
    .returning('id')
    .execute();
  if (inserted.length > 0) return;

  const row = await tx
    .selectFrom('known_service')
    .selectAll()
    .where('id', '=', learned.id)
    .$if(onPostgres(tx), (query) => query.forUpdate())
    .executeTakeFirstOrThrow();
  const next = merged(row, learned);
  await tx.updateTable('known_service').set(next).where('id', '=', learned.id).execute();
}

function firstRow({ id, name, fields, source, seenAt }: ServiceObservation): KnownTable {
  const at = toText(seenAt);
  const times = Object.fromEntries(Object.keys(fields).map((field) => [field, at]));
  return {
    id,
    name,
    named_at: at,
    source,
    seen_at: at,
    fields: JSON.stringify(fields),
    field_seen_at: JSON.stringify(times),
  };
}

function merged(row: Selectable<KnownTable>, learned: ServiceObservation): Omit<KnownTable, 'id'> {
  const { id: _, ...next } = firstRow(learned);
  const stored = readable(row);
  // Nothing of an unreadable row is kept, so that it does not stop what is stored with it.
  if (!stored) return next;
  const newer = Object.entries(learned.fields).filter(
    ([field]) => !isAfter(stored.fieldSeenAt[field], learned.seenAt),
  );
  const times = newer.map(([field]) => [field, learned.seenAt]);
  const isNewerName = row.named_at <= next.named_at;
  return {
    name: isNewerName ? learned.name : row.name,
    named_at: isNewerName ? next.named_at : row.named_at,
    ...(isNewerReport(stored, learned) ? pickReport(next) : pickReport(row)),
    fields: JSON.stringify({ ...stored.fields, ...Object.fromEntries(newer) }),
    field_seen_at: JSON.stringify({ ...stored.fieldSeenAt, ...Object.fromEntries(times) }),
  };
}

function isAfter(stored: Date | undefined, seenAt: Date): boolean {
  return stored !== undefined && stored > seenAt;
}

// A source that only names a service must not make its facts look newer than they are.
function isNewerReport(stored: ServiceObservation, learned: ServiceObservation): boolean {
  const facts = [stored, learned].map(({ fields }) => Object.keys(fields).length > 0);
  return facts[0] === facts[1] ? learned.seenAt >= stored.seenAt : facts[1] === true;
}

function pickReport({ source, seen_at }: Pick<KnownTable, 'source' | 'seen_at'>) {
  return { source, seen_at };
}

/** Returns the services by name. An unreadable row is passed to `onUnreadable` and left out. */
export async function knownServices(
  db: Db,
  onUnreadable?: OnUnreadableService,
): Promise<DirectoryEntry[]> {
  const query = db.selectFrom('known_service').selectAll();
  const rows = await query.orderBy('name').orderBy('id').execute();
  return rows.flatMap((row) => readable(row, onUnreadable) ?? []);
}

type OnUnreadableService = (id: string, error: UnreadableRowError) => void;

function readable(
  row: Selectable<KnownTable>,
  onUnreadable?: OnUnreadableService,
): DirectoryEntry | null {
  try {
    return knownFrom(row);
  } catch (error) {
    if (!(error instanceof UnreadableRowError)) throw error;
    onUnreadable?.(row.id, error);
    return null;
  }
}

const Times = z.record(z.string(), StoredInstant);

function knownFrom(row: Selectable<KnownTable>): DirectoryEntry {
  return {
    id: row.id,
    name: row.name,
    source: row.source,
    seenAt: decode(StoredInstant, JSON.stringify(row.seen_at), `known ${row.id}`),
    fields: decode(JsonFields, row.fields, `known ${row.id}`),
    fieldSeenAt: decode(Times, row.field_seen_at, `known ${row.id}`),
  };
}
