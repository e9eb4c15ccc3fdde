import { type Change, isEnded, isPrivate, type State, targetKey } from '../domain/change.ts';
import { reading, type Store, type StoreReader, type StoreTx, sql } from '../storage/index.ts';

// Views serve lists and queries only: nothing is decided from them, and `rebuild` makes them again.

/** A revert runs under the break-glass of its parent, which is reviewed once. */
function needsReview(change: Change): boolean {
  const { breakGlass, parent, review } = change;
  return breakGlass !== null && parent === null && review === null && isEnded(change);
}

/** The time at which a change ended; an open one has none. */
function endedAt(change: Change, updatedAt: number): number | null {
  if (!isEnded(change)) return null;
  return (change.resolution?.at ?? change.outcome?.at)?.getTime() ?? updatedAt;
}

export async function showChange(tx: StoreTx, change: Change, updatedAt: number): Promise<void> {
  const { id, state, command, requester, via, parent, createdAt, outcome } = change;
  const flag = (is: boolean) => (is ? 1 : 0);
  const row = {
    ...{ id, state, command, requester, parent, target: targetKey(change) },
    ...{ agent: via?.agent ?? null, created_at: createdAt.getTime(), updated_at: updatedAt },
    ...{ ended_at: endedAt(change, updatedAt), sent_at: outcome?.at.getTime() ?? null },
    ...{ is_private: flag(isPrivate(change)), is_open: flag(!isEnded(change)) },
    needs_review: flag(needsReview(change)),
  };
  const columns = Object.keys(row).map((name) => sql.ref(name));
  const next = columns.map((column) => sql`${column} = excluded.${column}`);
  await sql`insert into change_view (${sql.join(columns)}) values (${sql.join(Object.values(row))})
    on conflict (id) do update set ${sql.join(next)}`.execute(tx);
}

/** Deletes everything that `rebuild` makes again. */
export async function deleteViews(tx: StoreTx): Promise<void> {
  await sql`delete from change_view`.execute(tx);
  await sql`delete from job`.execute(tx);
}

export interface ChangeQuery {
  readonly states?: readonly State[];
  readonly requester?: string;
  /** Only what this agent requested. */
  readonly agent?: string;
  readonly commands?: readonly string[];
  /** Target keys, as `targetKey` makes them. */
  readonly targets?: readonly string[];
  /** True: only open changes. False: only ended ones that other users may see. */
  readonly open?: boolean;
  /** Only changes that were requested since this time. */
  readonly since?: Date;
  /** Only changes that are open, or were requested since this time. */
  readonly openOrSince?: Date;
  /** Only changes that were sent and ended since this time; the last to end comes first. */
  readonly endedSince?: Date;
  /** Only changes whose request was answered, or may have arrived. The last one comes first. */
  readonly sent?: true;
  /** Without drafts, and without changes that ended as a draft. */
  readonly confirmed?: true;
  /** Only ended break-glass changes without a review. */
  readonly toReview?: true;
  /** Without drafts that other users have not confirmed, or never did. */
  readonly privateTo?: string;
  readonly except?: Change['id'] | undefined;
  /** Without reverts. */
  readonly requested?: true;
  /** The last change of the page before. */
  readonly before?: Pick<Change, 'id' | 'createdAt' | 'outcome' | 'resolution'>;
}

/** Returns the ids of changes of the view, the newest first. */
export async function queryChanges(
  reader: StoreReader,
  query: ChangeQuery,
  limit: number,
): Promise<readonly Change['id'][]> {
  const { where, by } = conditionsOf(query);
  const { rows } = await sql<{ id: Change['id'] }>`select id from change_view where ${where}
    order by ${sql.ref(by)} desc, id desc limit ${limit}`.execute(reader);
  return rows.map(({ id }) => id);
}

interface Stored {
  readonly store: Store;
}

/** More changes are not counted, because the time would grow with the number of all changes. */
const COUNTED_MAX = 1_001;

/** How many changes match, on all pages: at most 1,001. */
export async function countChanges({ store }: Stored, query: ChangeQuery): Promise<number> {
  const { where } = conditionsOf(query);
  const found = sql<{ count: number }>`select count(*) as count from
    (select id from change_view where ${where} limit ${COUNTED_MAX}) counted`;
  const { rows } = await reading(store, (reader) => found.execute(reader));
  return Number(rows[0]?.count ?? 0);
}

/** The commands that a user requested, the most frequent first; reverts do not count. */
export async function requestedCommands(
  { store }: Stored,
  requester: string,
  most: number,
): Promise<readonly string[]> {
  const found = sql<{ command: string }>`select command from change_view
    where requester = ${requester} and parent is null
    group by command order by count(*) desc, command limit ${most}`;
  const { rows } = await reading(store, (reader) => found.execute(reader));
  return rows.map(({ command }) => command);
}

/** When each target last got a request of these commands that was applied, or may have been, by its key. */
export async function lastSent(
  { store }: Stored,
  { commands, since }: { readonly commands: readonly string[]; readonly since: Date },
): Promise<ReadonlyMap<string, Date>> {
  const found = sql<{ target: string; at: number }>`select target, max(sent_at) as at
    from change_view where sent_at >= ${since.getTime()} and state in ('succeeded', 'unknown')
      and ${oneOf('command', commands)} group by target`;
  const { rows } = await reading(store, (reader) => found.execute(reader));
  return new Map(rows.map(({ target, at }) => [target, new Date(at)]));
}

/** Also on PostgreSQL, a list without values has nothing. */
function oneOf(column: string, values: readonly string[]) {
  return sql`${sql.ref(column)} in (${sql.join(['', ...values])})`;
}

type OrderedBy = 'ended_at' | 'sent_at' | 'created_at';

function conditionsOf(query: ChangeQuery) {
  const { states, requester, commands, targets, open, since, endedSince, before } = query;
  const { privateTo, sent, agent } = query;
  const by: OrderedBy = endedSince ? 'ended_at' : sent ? 'sent_at' : 'created_at';
  const conditions = [
    states && oneOf('state', states),
    requester !== undefined && sql`requester = ${requester}`,
    agent !== undefined && sql`agent = ${agent}`,
    commands && oneOf('command', commands),
    targets && oneOf('target', targets),
    open === true && sql`is_open = 1`,
    open === false && sql`is_open = 0 and is_private = 0`,
    since && sql`created_at >= ${since.getTime()}`,
    query.openOrSince && sql`(is_open = 1 or created_at >= ${query.openOrSince.getTime()})`,
    endedSince && sql`ended_at >= ${endedSince.getTime()} and sent_at is not null`,
    sent && sql`sent_at is not null`,
    query.confirmed && sql`is_private = 0`,
    query.toReview && sql`needs_review = 1`,
    privateTo !== undefined && sql`(requester = ${privateTo} or is_private = 0)`,
    query.except && sql`id <> ${query.except}`,
    query.requested && sql`parent is null`,
    before && isBefore(by, before),
  ].filter((each) => typeof each === 'object');
  return { by, where: sql.join([sql`1 = 1`, ...conditions], sql` and `) };
}

function isBefore(by: OrderedBy, change: NonNullable<ChangeQuery['before']>) {
  const { id, createdAt, outcome, resolution } = change;
  const ended_at = resolution?.at ?? outcome?.at;
  const times = { ended_at, sent_at: outcome?.at, created_at: createdAt };
  const at = (times[by] ?? createdAt).getTime();
  return sql`(${sql.ref(by)} < ${at} or (${sql.ref(by)} = ${at} and id < ${id}))`;
}
