import type { ExecutionOutcome } from '../../domain/change.ts';
import { decode } from '../../storage/old/portable.ts';
import type { Db } from '../../storage/old/schema.ts';
import { StoredEnding } from './change-schemas.ts';

/** The most recent definite answer of the server to a change of this command. */
export interface LastOutcome {
  readonly command: string;
  readonly outcome: Exclude<ExecutionOutcome, { how: 'unknown' }>;
}

const MOST_CHANGES = 500;

/** The last outcome of each command among the latest changes that were sent. */
export async function lastOutcomes(db: Db): Promise<readonly LastOutcome[]> {
  const rows = await db
    .selectFrom('change')
    .select(['id', 'command', 'ending'])
    .where('ending', 'is not', null)
    // As in the partial index `change_by_end`; with a condition on the state, SQLite uses another one.
    .where('ended_at', 'is not', null)
    .orderBy('ended_at', 'desc')
    .limit(MOST_CHANGES)
    .execute();
  const latest = new Map<string, LastOutcome>();
  for (const { id, command, ending } of rows.toReversed()) {
    const outcome = decode(StoredEnding, ending ?? '', `change ${id}`);
    if (outcome.how !== 'unknown') latest.set(command, { command, outcome });
  }
  return [...latest.values()];
}
