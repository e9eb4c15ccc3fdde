import { createHash } from 'node:crypto';
import { z } from 'zod';
import { addDays, dayOf } from '../base/time.ts';
import type { CostAnomaly } from '../maths/anomalies.ts';
import type { Db, Tx } from '../storage/engine/database.ts';
import { alsoUnderOldKey, withOldKey } from '../storage/engine/portable.ts';
import { incidentsSince, saveIncident } from '../storage/tables/incidents.ts';

const Day = z.string();
const Incident = z.object({
  state: z.enum(['open', 'ongoing', 'muted', 'resolved', 'new-normal', 'expected']),
  direction: z.enum(['up', 'down']),
  tier: z.enum(['notice', 'alert']),
  since: Day,
  days: z.array(
    withOldKey(
      'settled',
      z.object({ day: Day, settled: z.boolean(), unusual: z.boolean(), excess: z.number() }),
    ),
  ),
  impact: z.number(),
  reportedImpact: z.number(),
  mutedUntil: Day.nullable(),
});
const Anomaly = z.object({
  entityId: z.string(),
  entityName: z.string(),
  kind: z.enum(['warehouse', 'service', 'pipe']),
  serviceId: z.string().nullable(),
  name: z.string(),
  metric: z.string().nullable(),
  incident: withOldKey('reportedImpact', Incident),
  peak: z.object({
    day: Day,
    value: z.number(),
    range: z.object({ expected: z.number(), low: z.number(), high: z.number() }).nullable(),
  }),
  announced: z.enum(['alone', 'crowd']).nullable(),
});
const StoredAnomaly = withOldKey('announced', Anomaly);

/** The value of the buttons: a hash, so that a click names no line of costs. */
export function incidentId({ line, incident }: Pick<CostAnomaly, 'line' | 'incident'>): string {
  const name = JSON.stringify([line, incident.since]);
  return createHash('sha256').update(name).digest('hex').slice(0, 16);
}

export async function storeAnomaly(tx: Tx, anomaly: CostAnomaly, now: Date): Promise<void> {
  const { line, ...facts } = anomaly;
  const stored = StoredAnomaly.parse(facts);
  await saveIncident(tx, {
    line,
    onset: anomaly.incident.since,
    state: anomaly.incident.state,
    facts: {
      ...alsoUnderOldKey('announced', stored),
      incident: withOldKeys(stored.incident),
    },
    updatedAt: now,
  });
}

function withOldKeys(incident: z.infer<typeof Incident>) {
  const days = incident.days.map((day) => alsoUnderOldKey('settled', day));
  return { ...alsoUnderOldKey('reportedImpact', incident), days };
}

const REMEMBERED_DAYS = 120;

/** The anomalies that began in the last 120 UTC days, oldest first. */
export function recentAnomalies(db: Db, now: Date): Promise<readonly CostAnomaly[]> {
  return anomaliesSince(db, addDays(dayOf(now), -REMEMBERED_DAYS));
}

/** Anomalies that began on that UTC day or later, oldest first. */
export async function anomaliesSince(db: Db, day: string): Promise<readonly CostAnomaly[]> {
  const stored = await incidentsSince(db, day);
  return stored.map(({ line, facts }) => ({ line, ...StoredAnomaly.parse(facts) })).reverse();
}
