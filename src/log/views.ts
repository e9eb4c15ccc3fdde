import type { State } from '../domain/change.ts';
import type { ChangeStatus } from '../domain/log-events.ts';
import { type StoreReader, type StoreTx, sql } from '../storage/index.ts';

/** A change as lists show it. A view: what is decided about a change is read from the log. */
export interface ListedChange {
  readonly id: string;
  readonly state: State;
  readonly command: string;
  /** `organization/kind/id` */
  readonly target: string;
  readonly requester: string;
  readonly createdAt: number;
  readonly updatedAt: number;
}

export async function showChange(
  tx: StoreTx,
  id: string,
  { state, command, target, requester, createdAt, needsReview }: ChangeStatus,
  updatedAt: number,
): Promise<void> {
  const review = needsReview ? 1 : 0;
  await sql`insert into change_view
      (id, state, command, target, requester, created_at, updated_at, needs_review)
    values (${id}, ${state}, ${command}, ${target}, ${requester}, ${createdAt}, ${updatedAt}, ${review})
    on conflict (id) do update set state = excluded.state, updated_at = excluded.updated_at,
      needs_review = excluded.needs_review`.execute(tx);
}

/** Deletes everything that `rebuild` makes again. */
export async function deleteViews(tx: StoreTx): Promise<void> {
  await sql`delete from change_view`.execute(tx);
  await sql`delete from job`.execute(tx);
}

export interface ChangeQuery {
  readonly states?: readonly State[];
  readonly needsReview?: true;
  readonly requester?: string;
  readonly command?: string;
  readonly target?: string;
  readonly since?: number;
  /** Changes that were created before this time, for the next page. */
  readonly before?: number;
  readonly most: number;
}

/** Returns changes of the view, the newest first. */
export async function queryChanges(
  reader: StoreReader,
  query: ChangeQuery,
): Promise<readonly ListedChange[]> {
  const { states, needsReview, requester, command, target, since, before, most } = query;
  const conditions = [
    states && sql`state in (${sql.join(states.length > 0 ? states : [''])})`,
    needsReview && sql`needs_review = 1`,
    requester !== undefined && sql`requester = ${requester}`,
    command !== undefined && sql`command = ${command}`,
    target !== undefined && sql`target = ${target}`,
    since !== undefined && sql`created_at >= ${since}`,
    before !== undefined && sql`created_at < ${before}`,
  ].filter((each) => typeof each === 'object');
  const { rows } = await sql<ListedChange>`select id, state, command, target, requester,
      created_at as "createdAt", updated_at as "updatedAt"
    from change_view where ${sql.join([sql`1 = 1`, ...conditions], sql` and `)}
    order by created_at desc, id limit ${most}`.execute(reader);
  return rows;
}
