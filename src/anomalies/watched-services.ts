import { budgetLine } from '../budgets/budget-text.ts';
import { type Budget, budgetStanding } from '../budgets/budgets.ts';
import { costScope } from '../cost-reports/scope.ts';
import { once } from '../costs/anomaly/unusual.ts';
import { addDays, type Day, dayOf, weekdayOf } from '../costs/calendar/day.ts';
import { selected } from '../costs/ledger/ledger.ts';
import type { Noticed, WatchedCosts } from '../digests/facts.ts';
import type { Gathered } from '../digests/gather.ts';
import type { DigestSubscription } from '../digests/subscriptions/subscriptions.ts';
import type { AnomalyContext } from './anomaly-run.ts';
import { deedsOf, unusualLine } from './anomaly-text.ts';
import { unusualSince } from './incident-store.ts';
import { riseLine, storedRises } from './slow-rises.ts';
import { readWatch } from './watch-state.ts';

const REMEMBERED_DAYS = 120;
const LATE_MS = 36 * 3_600_000;

/** What the watch has to say in one digest: of what it covers, the largest first. */
export async function watchedFor(
  context: Pick<AnomalyContext, 'database' | 'budgets' | 'now'>,
  one: DigestSubscription,
  gathered: Gathered,
): Promise<WatchedCosts> {
  const unusual = await unusualLines(context, one, gathered);
  const { read, services, today } = gathered;
  const shown = read.rows.length === 0 ? [] : context.budgets.filter((budget) => isOf(one, budget));
  const standings = shown.map((budget) => budgetStanding(budget, read.rows, services, today));
  return { unusual, budgets: standings.map(budgetLine) };
}

/** A digest about everything shows every budget, one about a part those that its channel is told. */
function isOf({ channel, options }: DigestSubscription, { notify }: Budget): boolean {
  return options.on === null || notify === channel;
}

/** Null: nobody has looked lately, so that calm may not be claimed. */
async function unusualLines(
  { database, now }: Pick<AnomalyContext, 'database' | 'now'>,
  { options }: DigestSubscription,
  { read, services, today }: Gathered,
): Promise<readonly Noticed[] | null> {
  const { state } = await readWatch(database.db);
  if (!state || now().getTime() - Date.parse(state.at) > LATE_MS) return null;
  const { selector } = costScope(options.on, services, read.rows);
  const covered = new Set(selected(read.rows, selector).map(({ entityId }) => entityId));
  const rises = isWeekly(options, today) ? ((await storedRises(database.db))?.all ?? []) : [];
  const all = await unusualSince(database.db, addDays(dayOf(now()), -REMEMBERED_DAYS));
  const least = options.minimumCredits ?? 0;
  const unusual = once(all.filter(({ incident }) => ['open', 'ongoing'].includes(incident.state)))
    .filter(({ entityId }) => covered.has(entityId))
    .filter(({ incident }) => incident.tier === 'alert' || options.sensitivity !== 'low')
    .filter(({ incident }) => Math.abs(incident.impact) >= least)
    .filter(({ incident }) => incident.direction === 'up' || !options.increasesOnly)
    .toSorted((a, b) => Math.abs(b.incident.impact) - Math.abs(a.incident.impact))
    .map((one) => ({ text: unusualLine(one), deeds: deedsOf(one) }));
  const slow = rises
    .filter(({ entityId }) => covered.has(entityId))
    .map((rise) => ({ text: riseLine(rise), deeds: null }));
  return [...unusual, ...slow];
}

/** What grows over weeks is told once a week: on Mondays, and in reports on longer times. */
function isWeekly({ period }: DigestSubscription['options'], today: Day): boolean {
  return period !== 'day' || weekdayOf(today) === 0;
}
