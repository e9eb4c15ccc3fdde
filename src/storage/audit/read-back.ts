import type { ChangeId, UserId } from '../../changes/change.ts';
import { isUnconfirmed } from '../tables/changes/change-lists.ts';
import type { Db } from '../tables/schema.ts';
import { type StoredEvent, storedEvent } from './append.ts';

/** The newest first, from the one before this number on. */
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

/** What an event is about, as far as its change tells. */
export interface EventSubject {
  readonly command: string;
  readonly target: string;
  /** Whose eyes alone it is for: it was never sent off. */
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
    .select((eb) => eb.case().when(isUnconfirmed(eb)).then(1).else(0).end().as('unsent'))
    .where('id', 'in', ids)
    .execute();
  // Plans were checked when they were stored; here only their name is read.
  const nameOf = (plan: string) => String(JSON.parse(plan).target?.name ?? '');
  return new Map(
    rows.map(({ id, command, plan, requester, unsent }) => [
      id,
      { command, target: nameOf(plan), owner: unsent === 1 ? requester : null },
    ]),
  );
}
