import { learnService } from '../../storage/tables/directory.ts';
import type { WorkflowContext } from '../ports.ts';

const DAY_MS = 86_400_000;
const DAYS_BACK = 7;

/**
 * Learns the names of services that the configuration does not list from the usage report. It says
 * that they exist and what they are called, and nothing of their condition.
 */
export async function learnFromUsage(context: WorkflowContext): Promise<number> {
  const seenAt = context.now();
  const from = new Date(seenAt.getTime() - DAYS_BACK * DAY_MS);
  const period = { from_date: utcDay(from), to_date: utcDay(seenAt) };
  const report = await context.commandContext().cloud.getUsageCost(period, { priority: 'digest' });

  const names = new Map<string, string>();
  for (const { serviceId, entityId, entityName } of byDay(report.result.costs)) {
    // A pipe's row names its service too, but has a name of its own.
    if (serviceId && serviceId === entityId && entityName) names.set(serviceId, entityName);
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
