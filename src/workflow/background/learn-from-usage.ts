import { entityOf } from '../../maths/rows.ts';
import type { CloudClient } from '../../servers/cloud.ts';
import { learnService } from '../../servers/facts.ts';
import type { Database } from '../../storage/engine/database.ts';

const DAY_MS = 86_400_000;
const DAYS_BACK = 7;

interface LearningContext {
  readonly cloud: Pick<CloudClient, 'getUsageCost'>;
  readonly database: Database;
  readonly now: () => Date;
}

/**
 * Stores the names of services in the usage report, so that users can name services that the
 * configuration does not list. Returns how many it found. The report has no state of a service.
 */
export async function learnFromUsage(context: LearningContext): Promise<number> {
  const seenAt = context.now();
  const from = new Date(seenAt.getTime() - DAYS_BACK * DAY_MS);
  const period = { from_date: utcDay(from), to_date: utcDay(seenAt) };
  const report = await context.cloud.getUsageCost(period, { priority: 'background' });

  const names = new Map<string, string>();
  for (const row of byDay(report.result.costs)) {
    const { serviceId, entityId, entityName } = row;
    // A pipe's row has the id of its service but the name of the pipe.
    if (!serviceId || serviceId !== entityId || !entityName) continue;
    // A warehouse may have the id of its service.
    if (entityOf(row, entityId).kind === 'service') names.set(serviceId, entityName);
  }
  await context.database.transaction(async (tx) => {
    for (const [id, name] of names) {
      await learnService(tx, { id, name, fields: {}, source: 'usage report', seenAt });
    }
  });
  return names.size;
}

function byDay<Row extends { readonly date: string | null }>(rows: readonly Row[]): readonly Row[] {
  return rows.toSorted((a, b) => ((a.date ?? '') < (b.date ?? '') ? -1 : 1));
}

function utcDay(at: Date): string {
  return at.toISOString().slice(0, 10);
}
