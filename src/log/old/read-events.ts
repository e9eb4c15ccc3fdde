import type { ChangeId, UserId } from '../../domain/change.ts';
import type { Db } from '../../storage/old/schema.ts';
import { type StoredEvent, storedEvent } from './append.ts';
import { isUnconfirmed } from './change-lists.ts';

/** Returns the events before a sequence number, newest first. */
export async function eventsBefore(
  db: Db,
  { before, limit }: { readonly before: number; readonly limit: number },
): Promise<StoredEvent[]> {
  const rows = await db
    .selectFrom('audit_event')
    .selectAll()
    .where('seq', '<', before)
    .orderBy('seq', 'desc')
    .limit(limit)
    .execute();
  return rows.map(storedEvent);
}

/** The change that an event is about. */
export interface EventSubject {
  readonly command: string;
  readonly target: string;
  /** The only user who may see it, because it was never confirmed; else null. */
  readonly owner: UserId | null;
}

export async function eventSubjects(
  db: Db,
  ids: readonly ChangeId[],
): Promise<ReadonlyMap<ChangeId, EventSubject>> {
  if (ids.length === 0) return new Map();
  const rows = await db
    .selectFrom('change')
    .select(['id', 'command', 'plan', 'requester'])
    .select((eb) => eb.case().when(isUnconfirmed(eb)).then(1).else(0).end().as('unconfirmed'))
    .where('id', 'in', ids)
    .execute();
  // The plan was validated when it was stored; only the name is read here.
  const nameOf = (plan: string) => String(JSON.parse(plan).target?.name ?? '');
  return new Map(
    rows.map(({ id, command, plan, requester, unconfirmed }) => [
      id,
      { command, target: nameOf(plan), owner: unconfirmed === 1 ? requester : null },
    ]),
  );
}
