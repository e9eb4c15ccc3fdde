import { z } from 'zod';
import { driftOf } from '../costs/anomaly/drift.ts';
import type { Unusual } from '../costs/anomaly/unusual.ts';
import { startOf } from '../costs/calendar/calendar.ts';
import { addDays, type Day } from '../costs/calendar/day.ts';
import { figure } from '../costs/ledger/numbers.ts';
import { microOf } from '../costs/ledger/row.ts';
import type { Db, Tx } from '../storage/engine/database.ts';
import { readMeta, writeMeta } from '../storage/tables/meta.ts';
import type { WatchedLine } from './watched-lines.ts';

const KEY = 'cost-slow-rises';
const MOST = 10;
const LOOKED_BACK_DAYS = 35;

const Rise = z.object({
  entityId: z.string(),
  name: z.string(),
  now: z.number(),
  before: z.number(),
});
const Rises = z.object({ through: z.string(), all: z.array(Rise) });

/** A line that grew week by week, in credits a day: no single day of it was unusual. */
export type SlowRise = z.infer<typeof Rise>;
export type SlowRises = z.infer<typeof Rises>;

/** Once a week: a rise that takes weeks is no news each morning. */
export function isWeekNew(lookedOn: Day | null, today: Day): boolean {
  return lookedOn === null || startOf('week', today) > startOf('week', lookedOn);
}

/** The largest first, one for each entity; what is told as an incident is left out. */
export function slowRises(
  lines: readonly WatchedLine[],
  known: readonly Unusual[],
  { last, minImpact }: { readonly last: Day; readonly minImpact: number },
): SlowRises {
  const told = new Set(
    known
      .filter(({ incident }) => incident.state !== 'resolved')
      .filter(({ incident }) => incident.since >= addDays(last, -LOOKED_BACK_DAYS))
      .map(({ entityId }) => entityId),
  );
  const rises = lines.flatMap(({ entityId, name, metric, values }) => {
    const drift = told.has(entityId) ? null : driftOf(values, last, minImpact);
    return drift ? [{ entityId, name, metric, ...drift }] : [];
  });
  // A metric says more than the total that rises with it.
  const byEntity = Map.groupBy(
    rises.toSorted((a, b) => Number(a.metric === null) - Number(b.metric === null) || by(a, b)),
    ({ entityId }) => entityId,
  );
  const all = [...byEntity.values()].flatMap(([first]) => (first ? [Rise.parse(first)] : []));
  return { through: last, all: all.toSorted(by).slice(0, MOST) };
}

function by(a: SlowRise, b: SlowRise): number {
  return b.now - b.before - (a.now - a.before);
}

export async function storeRises(tx: Tx, rises: SlowRises): Promise<void> {
  await writeMeta(tx, KEY, JSON.stringify(rises));
}

export async function storedRises(db: Db): Promise<SlowRises | null> {
  const text = await readMeta(db, KEY);
  return text === null ? null : Rises.parse(JSON.parse(text));
}

/** `archive · storage rises slowly: 12.4 a day in the last week, 9.8 in the four before` */
export function riseLine({ name, now, before }: SlowRise): string {
  const [late, early] = [figure(microOf(now)), figure(microOf(before))];
  return `${name} rises slowly: ${late} a day in the last week, ${early} in the four before`;
}
