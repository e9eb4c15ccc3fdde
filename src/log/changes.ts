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

const HASHES_AT_ONCE = 500;

/** Those of the hashes that are events of the log. */
export async function hasEvents(
  { store }: Log,
  hashes: readonly string[],
): Promise<ReadonlySet<string>> {
  const found = new Set<string>();
  for (let from = 0; from < hashes.length; from += HASHES_AT_ONCE) {
    const some = hashes.slice(from, from + HASHES_AT_ONCE);
    const { rows } = await reading(store, (reader) =>
      sql<{ hash: string }>`select hash from event where hash in (${sql.join(some)})`.execute(
        reader,
      ),
    );
    for (const { hash } of rows) found.add(hash);
  }
  return found;
}
