import { isDeepStrictEqual } from 'node:util';
import { anomalySummary, incidentButtons } from '../anomalies/anomaly-text.ts';
import { recentAnomalies } from '../anomalies/incident-store.ts';
import { isWatchLate, readWatch } from '../anomalies/watch-state.ts';
import { budgetSummary } from '../budgets/budget-text.ts';
import type { BudgetStanding } from '../budgets/budgets.ts';
import { costScope } from '../cost-reports/scope.ts';
import { mergeRelated } from '../maths/anomalies.ts';
import { selectRows } from '../maths/days.ts';
import { entityKey } from '../maths/rows.ts';
import type { Database } from '../storage/engine/database.ts';
import type { AnomalyItem, DigestAttention } from './facts.ts';
import type { DigestData } from './gather.ts';
import type { DigestSubscription } from './subscriptions/subscriptions.ts';

interface AttentionContext {
  readonly database: Database;
  readonly now: () => Date;
}

/** The open anomalies, largest first, and the budgets of what the digest covers. */
export async function findAttention(
  context: AttentionContext,
  subscription: DigestSubscription,
  data: DigestData,
): Promise<DigestAttention> {
  const anomalies = await anomalyItems(context, subscription, data);
  const shown = data.budgets.filter((one) => isShown(subscription, one));
  const budgets = shown.map((standing) => {
    const isOwn = isDeepStrictEqual(standing.budget.on, subscription.options.on);
    return { ...budgetSummary(standing), isOwn };
  });
  return { anomalies, budgets };
}

/** A digest of everything shows all budgets; a digest of a part, those that notify its channel. */
function isShown({ channel, options }: DigestSubscription, { budget }: BudgetStanding): boolean {
  return options.on === null || budget.notify === channel;
}

/** Null if the last scan is too old to claim that nothing is unusual. */
async function anomalyItems(
  { database, now }: AttentionContext,
  { options }: DigestSubscription,
  { read, services }: DigestData,
): Promise<readonly AnomalyItem[] | null> {
  const { state } = await readWatch(database.db);
  if (!state || isWatchLate(state, now())) return null;
  const { selector } = costScope(options.on, services, read.rows);
  const covered = new Set(selectRows(read.rows, selector).map(entityKey));
  const all = await recentAnomalies(database.db, now());
  const prices = read.prices ?? null;
  const least = options.minimumCredits ?? 0;
  const open = all.filter(({ incident }) => ['open', 'ongoing'].includes(incident.state));
  return mergeRelated(open)
    .filter(
      ({ incident: { tier, impact, direction }, ...entity }) =>
        covered.has(entityKey(entity)) &&
        (tier === 'alert' || options.sensitivity !== 'low') &&
        Math.abs(impact) >= least &&
        (direction === 'up' || !options.increasesOnly),
    )
    .toSorted((a, b) => Math.abs(b.incident.impact) - Math.abs(a.incident.impact))
    .map((one) => ({ text: anomalySummary(one, prices), buttons: incidentButtons(one) }));
}
