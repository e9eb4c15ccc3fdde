import { createHash } from 'node:crypto';
import { z } from 'zod';
import type { CostAnomaly } from '../costs/anomaly/cost-anomaly.ts';
import type { Db, Tx } from '../storage/engine/database.ts';
import { incidentsSince, type StoredIncident, saveIncident } from '../storage/tables/incidents.ts';

const Day = z.string();
/** The stored form of an anomaly, whose `told` is the `announced` of the type. */
const Facts = z.object({
  entityId: z.string(),
  entityName: z.string(),
  kind: z.enum(['warehouse', 'service', 'pipe']),
  serviceId: z.string().nullable(),
  name: z.string(),
  metric: z.string().nullable(),
  incident: z.object({
    state: z.enum(['open', 'ongoing', 'muted', 'resolved', 'new-normal', 'expected']),
    direction: z.enum(['up', 'down']),
    tier: z.enum(['notice', 'alert']),
    since: Day,
    days: z.array(
      z.object({ day: Day, final: z.boolean(), unusual: z.boolean(), excess: z.number() }),
    ),
    impact: z.number(),
    toldImpact: z.number(),
    mutedUntil: Day.nullable(),
  }),
  peak: z.object({
    day: Day,
    value: z.number(),
    range: z.object({ expected: z.number(), low: z.number(), high: z.number() }).nullable(),
  }),
  told: z.enum(['alone', 'crowd']).nullable(),
});

/** The value of the buttons: a hash, so that a click names no line of costs. */
export function incidentId({ line, incident }: Pick<CostAnomaly, 'line' | 'incident'>): string {
  const name = JSON.stringify([line, incident.since]);
  return createHash('sha256').update(name).digest('hex').slice(0, 16);
}

export async function storeAnomaly(tx: Tx, anomaly: CostAnomaly, now: Date): Promise<void> {
  const { line, announced: told, ...facts } = anomaly;
  await saveIncident(tx, {
    line,
    onset: anomaly.incident.since,
    state: anomaly.incident.state,
    facts: Facts.parse({ ...facts, told }),
    updatedAt: now,
  });
}

/** Anomalies that began on that UTC day or later, oldest first. */
export async function anomaliesSince(db: Db, day: string): Promise<readonly CostAnomaly[]> {
  return (await incidentsSince(db, day)).map(anomalyFrom).reverse();
}

function anomalyFrom({ line, facts }: StoredIncident): CostAnomaly {
  const { told: announced, ...anomaly } = Facts.parse(facts);
  return { line, ...anomaly, announced };
}
