import { createHash } from 'node:crypto';
import { z } from 'zod';
import type { Unusual } from '../costs/anomaly/unusual.ts';
import type { Db, Tx } from '../storage/engine/database.ts';
import { incidentsSince, type StoredIncident, saveIncident } from '../storage/tables/incidents.ts';

const Day = z.string();
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

/** What a button holds: nobody can make up the id of another line with it. */
export function incidentId({ line, incident }: Pick<Unusual, 'line' | 'incident'>): string {
  const name = JSON.stringify([line, incident.since]);
  return createHash('sha256').update(name).digest('hex').slice(0, 16);
}

export async function storeUnusual(tx: Tx, unusual: Unusual, now: Date): Promise<void> {
  const { line, ...facts } = unusual;
  await saveIncident(tx, {
    line,
    onset: unusual.incident.since,
    state: unusual.incident.state,
    facts: Facts.parse(facts),
    updatedAt: now,
  });
}

/** Incidents that began on a day or after it; the oldest first. */
export async function unusualSince(db: Db, day: string): Promise<readonly Unusual[]> {
  return (await incidentsSince(db, day)).map(unusualFrom).reverse();
}

function unusualFrom({ line, facts }: StoredIncident): Unusual {
  return { line, ...Facts.parse(facts) };
}
