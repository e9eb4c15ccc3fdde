import type { JsonObject } from '../../base/text.ts';
import { decode, JsonFields, toDate, toText } from './portable.ts';
import type { Db, Tx } from './schema.ts';

/** An anomaly in one line of costs, from the day on which it began. */
interface StoredIncident {
  readonly line: string;
  readonly onset: string;
  readonly state: string;
  readonly facts: JsonObject;
  readonly updatedAt: Date;
}

export async function saveIncident(tx: Tx, incident: StoredIncident): Promise<void> {
  const { line, onset, state, facts, updatedAt } = incident;
  const row = { state, facts: JSON.stringify(facts), updated_at: toText(updatedAt) };
  await tx
    .insertInto('incident')
    .values({ line, onset, ...row })
    .onConflict((conflict) => conflict.columns(['line', 'onset']).doUpdateSet(row))
    .execute();
}

/** Returns the anomalies that began on `day` or later, newest first. */
export async function incidentsSince(db: Db, day: string): Promise<readonly StoredIncident[]> {
  const rows = await db
    .selectFrom('incident')
    .selectAll()
    .where('onset', '>=', day)
    .orderBy('onset', 'desc')
    .orderBy('line')
    .execute();
  return rows.map((row) => ({
    line: row.line,
    onset: row.onset,
    state: row.state,
    facts: decode(JsonFields, row.facts, `incident ${row.line}`),
    updatedAt: toDate(row.updated_at),
  }));
}

/** Stores the permit to post a notice of a budget once per period. False: it exists already. */
export async function permitBudgetNotice(
  tx: Tx,
  { budget, month, mark, at }: { budget: string; month: string; mark: string; at: Date },
): Promise<boolean> {
  const inserted = await tx
    .insertInto('budget_notice')
    .values({ budget, month, mark, at: toText(at) })
    .onConflict((conflict) => conflict.doNothing())
    .returning('mark')
    .execute();
  return inserted.length > 0;
}
