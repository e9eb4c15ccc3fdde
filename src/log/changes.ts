import type { Change, ChangeId } from '../domain/change.ts';
import { foldOf } from '../domain/fold.ts';
import { reading, sql } from '../storage/index.ts';
import type { Log, Subjects } from './log.ts';
import { type ChangeQuery, queryChanges } from './views.ts';

/**
 * Returns a change, folded from its verified events, with the state of its revert; null without events and after its
 * bodies were pruned. Throws `Damaged`.
 */
export async function loadChange(subjects: Subjects, id: ChangeId): Promise<Change | null> {
  const { state: change } = await subjects.load(`change/${id}`, foldOf(id));
  if (!change?.child) return change;
  const child = await subjects.load(`change/${change.child.id}`, foldOf(change.child.id));
  return child.state
    ? { ...change, child: { id: child.state.id, state: child.state.state } }
    : change;
}

/** Changes of the view, each loaded from the log, the newest first. Pruned ones are left out. */
export async function listChanges(
  log: Log,
  { limit, ...query }: ChangeQuery & { readonly limit: number },
): Promise<readonly Change[]> {
  const ids = await reading(log.store, (reader) => queryChanges(reader, query, limit));
  const found: Change[] = [];
  for (const id of ids) {
    const change = await loadChange(log, id);
    if (change) found.push(change);
  }
  return found;
}

/** Those of the hashes that are events of the log. A row outside of its chain is none. */
export async function hasEvents(log: Log, hashes: readonly string[]): Promise<ReadonlySet<string>> {
  const { first } = log.memory.chain;
  const found = await rowsAbout(
    log,
    hashes,
    (some) => sql<{ hash: string }>`select hash from event
      where hash in (${sql.join(some)}) and seq >= ${first}`,
  );
  return new Set(found.map(({ hash }) => hash));
}

/** Those of the changes that seem to have no card. Only what is loaded decides. */
export async function withoutCard(
  log: Log,
  ids: readonly ChangeId[],
): Promise<readonly ChangeId[]> {
  const found = await rowsAbout(
    log,
    ids.map((id) => `change/${id}`),
    (some) => sql<{ stream: string }>`select stream from event
      where stream in (${sql.join(some)}) and type in ('card-posted', 'card-lost')
      group by stream having sum(case type when 'card-posted' then 1 else -1 end) > 0`,
  );
  const having = new Set(found.map(({ stream }) => stream));
  return ids.filter((id) => !having.has(`change/${id}`));
}

const AT_ONCE = 500;

async function rowsAbout<Row>(
  { store }: Log,
  values: readonly string[],
  query: (some: readonly string[]) => ReturnType<typeof sql<Row>>,
): Promise<readonly Row[]> {
  const all: Row[] = [];
  for (let from = 0; from < values.length; from += AT_ONCE) {
    const some = query(values.slice(from, from + AT_ONCE));
    all.push(...(await reading(store, (reader) => some.execute(reader))).rows);
  }
  return all;
}
