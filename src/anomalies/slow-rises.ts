import { z } from 'zod';
import type { CostAnomaly } from '../costs/anomaly/cost-anomaly.ts';
import { findSlowRise } from '../costs/anomaly/slow-rise.ts';
import { startOf } from '../costs/calendar/calendar.ts';
import { addDays, type Day, daysBetween } from '../costs/calendar/day.ts';
import { figure } from '../costs/ledger/numbers.ts';
import { entityKey, microOf } from '../costs/ledger/row.ts';
import { moneyOver } from '../costs/money/money.ts';
import type { PriceList } from '../costs/money/price.ts';
import type { Db, Tx } from '../storage/engine/database.ts';
import { readMeta, writeMeta } from '../storage/tables/meta.ts';
import type { WatchedLine } from './watched-lines.ts';

const KEY = 'cost-slow-rises';
const MOST = 10;
const RECENT_DAYS = 35;

const Rise = z.object({
  entityId: z.string(),
  // Release 1.0 stored no kind.
  kind: z.enum(['warehouse', 'service', 'pipe']).default('service'),
  name: z.string(),
  now: z.number(),
  before: z.number(),
});
const Rises = z.object({ through: z.string(), all: z.array(Rise) });

/** A line that grew week by week, in credits per day, without any single unusual day. */
type SlowRise = z.infer<typeof Rise>;
export type SlowRises = z.infer<typeof Rises>;

/** Slow rises are computed once a week, because they change over weeks. */
export function isNewWeek(lastRun: Day | null, today: Day): boolean {
  return lastRun === null || startOf('week', today) > startOf('week', lastRun);
}

/** The slow rises, largest first, one per entity. Entities with a recent incident are left out. */
export function slowRises(
  lines: readonly WatchedLine[],
  known: readonly CostAnomaly[],
  { last, minImpact }: { readonly last: Day; readonly minImpact: number },
): SlowRises {
  const withIncident = new Set(
    known
      .filter(({ incident }) => incident.state !== 'resolved')
      .filter(({ incident }) => incident.since >= addDays(last, -RECENT_DAYS))
      .map(entityKey),
  );
  const rises = lines.flatMap((line) => {
    const { entityId, kind, name, metric, values } = line;
    const drift = withIncident.has(entityKey(line)) ? null : findSlowRise(values, last, minImpact);
    return drift ? [{ entityId, kind, name, metric, ...drift }] : [];
  });
  // A metric is more specific than the total that rises with it, so metrics come first.
  const byEntity = Map.groupBy(
    rises.toSorted((a, b) => Number(a.metric === null) - Number(b.metric === null) || bySize(a, b)),
    entityKey,
  );
  const all = [...byEntity.values()].flatMap(([first]) => (first ? [Rise.parse(first)] : []));
  return { through: last, all: all.toSorted(bySize).slice(0, MOST) };
}

function bySize(a: SlowRise, b: SlowRise): number {
  return b.now - b.before - (a.now - a.before);
}

export async function storeSlowRises(tx: Tx, rises: SlowRises): Promise<void> {
  await writeMeta(tx, KEY, JSON.stringify(rises));
}

export async function readSlowRises(db: Db): Promise<SlowRises | null> {
  const text = await readMeta(db, KEY);
  return text === null ? null : Rises.parse(JSON.parse(text));
}

/**
 * `archive · storage rises slowly: 12.4 per day in the last week, 9.8 in the four weeks before`, with
 * the prices of these weeks, which end with `through`.
 */
export function slowRiseText(
  { name, now, before }: SlowRise,
  through: Day,
  prices: PriceList | null,
): string {
  const weeks = daysBetween(addDays(through, -34), through);
  const inMoney = (credits: number, days: readonly Day[]) =>
    figure(microOf(credits), moneyOver(microOf(credits), days, prices));
  const [late, early] = [inMoney(now, weeks.slice(-7)), inMoney(before, weeks.slice(0, -7))];
  return `${name} rises slowly: ${late} per day in the last week, ${early} in the four weeks before`;
}
