import type { ChangeId } from '../../domain/change.ts';
import type { AuditEventTable, Db } from '../../storage/old/schema.ts';
import { readEventBody } from './chain.ts';
import { authenticityCheck } from './key-eras.ts';
import type { AuditKey } from './key-ring.ts';

/** Returns those of the changes whose revert an authentic event of the trail plans. */
export async function plannedParents(
  db: Db,
  keys: AuditKey,
  changes: readonly ChangeId[],
): Promise<ReadonlySet<string>> {
  if (changes.length === 0) return new Set();
  const isSigned = await authenticityCheck(db, keys);
  const parentsIn = (rows: readonly AuditEventTable[]) =>
    rows.filter(isSigned).map((row) => String(readEventBody(row).body.parent));
  const events = db.selectFrom('audit_event').selectAll().where('kind', '=', 'planned-return');
  const children = db.selectFrom('change').select('id').where('parent', 'in', changes);
  const found = new Set(parentsIn(await events.where('change_id', 'in', children).execute()));
  for (const id of changes.filter((each) => !found.has(each))) {
    // The row of the revert was deleted: no index, but only after a direct write to the database.
    const naming = events.where('body', 'like', `%"parent":"${id}"%`);
    for (const parent of parentsIn(await naming.execute())) found.add(parent);
  }
  return found;
}
