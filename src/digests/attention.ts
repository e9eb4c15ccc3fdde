import { anomalyLine, incidentButtons } from '../anomalies/anomaly-text.ts';
import type { AnomalyContext } from '../anomalies/anomaly-watch.ts';
import { anomaliesSince } from '../anomalies/incident-store.ts';
import { readSlowRises, slowRiseText } from '../anomalies/slow-rises.ts';
import { isWatchLate, readWatch } from '../anomalies/watch-state.ts';
import { budgetLine } from '../budgets/budget-text.ts';
import { type Budget, budgetStanding } from '../budgets/budgets.ts';
import { costScope } from '../cost-reports/scope.ts';
import { mergeRelated } from '../costs/anomaly/cost-anomaly.ts';
import { addDays, type Day, dayOf, weekdayOf } from '../costs/calendar/day.ts';
import { selected } from '../costs/ledger/ledger.ts';
import type { AnomalyItem, DigestAttention } from './facts.ts';
import type { DigestData } from './gather.ts';
import type { DigestSubscription } from './subscriptions/subscriptions.ts';

const REMEMBERED_DAYS = 120;

/** The open anomalies, largest first, and the budgets of what the digest covers. */
export async function findAttention(
  context: Pick<AnomalyContext, 'database' | 'budgets' | 'now'>,
  subscription: DigestSubscription,
  data: DigestData,
): Promise<DigestAttention> {
  const anomalies = await anomalyItems(context, subscription, data);
  const { read, states, services, today } = data;
  const shown =
    read.rows.length === 0 ? [] : context.budgets.filter((one) => isShown(subscription, one));
  const standings = shown.map((budget) =>
    budgetStanding(budget, { rows: read.rows, states, services, today }),
  );
  return { anomalies, budgets: standings.map(budgetLine) };
}

/** A digest of everything shows all budgets; a digest of a part, those that notify its channel. */
function isShown({ channel, options }: DigestSubscription, { notify }: Budget): boolean {
  return options.on === null || notify === channel;
}

/** Null if the last scan is too old to claim that nothing is unusual. */
async function anomalyItems(
  { database, now }: Pick<AnomalyContext, 'database' | 'now'>,
  { options }: DigestSubscription,
  { read, services, today }: DigestData,
): Promise<readonly AnomalyItem[] | null> {
  const { state } = await readWatch(database.db);
  if (!state || isWatchLate(state, now())) return null;
  const { selector } = costScope(options.on, services, read.rows);
  const covered = new Set(selected(read.rows, selector).map(({ entityId }) => entityId));
  const rises = isWeekly(options, today) ? ((await readSlowRises(database.db))?.all ?? []) : [];
  const all = await anomaliesSince(database.db, addDays(dayOf(now()), -REMEMBERED_DAYS));
  const least = options.minimumCredits ?? 0;
  const open = all.filter(({ incident }) => ['open', 'ongoing'].includes(incident.state));
  const anomalies = mergeRelated(open)
    .filter(
      ({ entityId, incident: { tier, impact, direction } }) =>
        covered.has(entityId) &&
        (tier === 'alert' || options.sensitivity !== 'low') &&
        Math.abs(impact) >= least &&
        (direction === 'up' || !options.increasesOnly),
    )
    .toSorted((a, b) => Math.abs(b.incident.impact) - Math.abs(a.incident.impact))
    .map((one) => ({ text: anomalyLine(one), buttons: incidentButtons(one) }));
  const slow = rises
    .filter(({ entityId }) => covered.has(entityId))
    .map((rise) => ({ text: slowRiseText(rise), buttons: null }));
  return [...anomalies, ...slow];
}

/** Slow rises are shown once a week: on Mondays, and in weekly and monthly digests. */
function isWeekly({ period }: DigestSubscription['options'], today: Day): boolean {
  return period !== 'day' || weekdayOf(today) === 0;
}
