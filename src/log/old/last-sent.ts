import { type SqlBool, sql } from 'kysely';
import type { ChangeId, TargetKind } from '../../domain/change.ts';
import { decode, toDate, toText } from '../../storage/old/portable.ts';
import type { Db } from '../../storage/old/schema.ts';
import { StoredEnding } from './change-schemas.ts';

/** A change that was sent, and was applied or may have been: its outcome is unknown. */
export interface SentChange {
  readonly id: ChangeId;
  readonly targetKey: string;
  /** When the request was sent. An unknown outcome may be resolved much later. */
  readonly at: Date;
}

interface SentFilter {
  readonly kind: TargetKind;
  readonly commands: readonly string[];
  readonly since: Date;
}

// As in the partial index `change_sent_by_target`: SQLite uses such an index for the same text only.
const WAS_SENT = sql<SqlBool>`state in ('succeeded', 'unknown')`;

/**
 * Returns the last two changes of each target that ended since a time, the last one first. It reads
 * only these from the index: the time grows with the number of targets, not of changes. While an
 * outcome is unknown, its target is locked, so that the last one to end was also sent last.
 */
export async function lastSentChanges(db: Db, filter: SentFilter): Promise<readonly SentChange[]> {
  const ids = await lastSentIds(db, filter);
  if (ids.length === 0) return [];
  const rows = await db
    .selectFrom('change')
    .select(['id', 'target_key', 'ending', 'created_at'])
    .where('id', 'in', ids)
    .orderBy('ended_at', 'desc')
    .orderBy('id', 'desc')
    .execute();
  return rows.map(({ id, target_key, ending, created_at }) => {
    const at = ending ? decode(StoredEnding, ending, `change ${id}`).at : toDate(created_at);
    return { id, targetKey: target_key, at };
  });
}

async function lastSentIds(db: Db, { kind, commands, since }: SentFilter): Promise<ChangeId[]> {
  if (commands.length === 0) return [];
  // The keys of one kind of target, each read once: `;` is the character after `:`.
  const end = `${kind};`;
  const next = (after: unknown) => sql`(select target_key from change
    where target_key > ${after} and target_key < ${end}
    order by target_key limit 1)`;
  const place = (skipped: number) => sql`(select id from change
    where ${WAS_SENT} and target_key = target.key and ended_at >= ${toText(since)}
      and command in (${sql.join(commands)})
    order by ended_at desc, id desc limit 1 offset ${skipped})`;
  const { rows } = await sql<{ last: ChangeId | null; previous: ChangeId | null }>`
    with recursive target(key) as (
      select ${next(`${kind}:`)}
      union all
      select ${next(sql`target.key`)} from target where target.key is not null
    )
    select ${place(0)} as last, ${place(1)} as previous from target where target.key is not null
  `.execute(db);
  return rows.flatMap(({ last, previous }) => [last, previous].filter((id) => id !== null));
}
