import type { Span } from '../base/calendar.ts';
import { addDays, type Day, dayOf } from '../base/time.ts';
import { type Budget, type BudgetStanding, budgetStandings } from '../budgets/budgets.ts';
import { costScope } from '../cost-reports/scope.ts';
import { changeTitle } from '../domain/answer.ts';
import type { Change } from '../domain/change.ts';
import { TARGET_TRAITS } from '../domain/change.ts';
import type { Service } from '../domain/targets.ts';
import { type DayState, dayStates, type SnapshotHistory, snapshotHistory } from '../maths/days.ts';
import type { CostReading } from '../maths/report.ts';
import type { Db } from '../storage/engine/database.ts';
import { listChanges } from '../storage/tables/changes/change-lists.ts';
import { costSnapshots } from '../storage/tables/costs.ts';
import type { DigestFacts, ExecutedChange } from './facts.ts';
import { daysLastPosted, type LastPostedFigures } from './last-posted.ts';
import { rowsNeeded } from './measure.ts';
import type { DigestSubscription } from './subscriptions/subscriptions.ts';

/** Read once for all digests that are due at the same time. */
export interface DigestData {
  readonly today: Day;
  readonly read: CostReading;
  /** The states of all days, for the whole organization. */
  readonly states: readonly DayState[];
  readonly snapshots: SnapshotHistory;
  readonly changes: readonly Change[];
  readonly services: readonly Service[];
  /** Empty without any row. */
  readonly budgets: readonly BudgetStanding[];
}

/** The days of which one may have settled last. */
const SNAPSHOT_DAYS = 35;
const CHANGES_MAX = 200;

export async function gatherDigestData(
  db: Db,
  sources: {
    readonly organizationId: string;
    readonly costs: (span: Span) => Promise<CostReading>;
    readonly services: readonly Service[];
    readonly budgets: readonly Budget[];
    readonly now: Date;
  },
): Promise<DigestData> {
  const today = dayOf(sources.now);
  const span = rowsNeeded(today);
  const [read, stored, changes] = await Promise.all([
    sources.costs(span),
    costSnapshots(db, sources.organizationId, addDays(today, -SNAPSHOT_DAYS)),
    listChanges(db, { states: ['succeeded'], limit: CHANGES_MAX }),
  ]);
  const hasRows = read.rows.length > 0;
  return {
    today,
    read,
    states: dayStates(read.rows, span),
    budgets: hasRows ? budgetStandings({ ...sources, today }, read) : [],
    snapshots: snapshotHistory(stored),
    changes,
    services: sources.services,
  };
}

interface DigestDetails extends Pick<DigestFacts, 'covers' | 'next' | 'attention'> {
  readonly lastPosted: LastPostedFigures | null;
}

/** The facts of one digest, from the data of all. */
export function digestFacts(
  { options }: Pick<DigestSubscription, 'options'>,
  { covers, next, lastPosted, attention }: DigestDetails,
  data: DigestData,
): DigestFacts {
  const { read, today, states, services, changes } = data;
  const { selector, label, untagged } = costScope(options.on, services, read.rows);
  const own = changes.filter(
    ({ plan: { target } }) => !selector.services || selector.services.includes(target.id),
  );
  return {
    read,
    today,
    states,
    covers,
    selector,
    scope: label,
    untagged,
    options,
    posted: daysLastPosted(lastPosted, selector),
    changes: own.flatMap(executedChange),
    attention,
    next,
  };
}

function executedChange(change: Change): readonly ExecutedChange[] {
  const { id, plan, outcome } = change;
  if (outcome?.how !== 'succeeded' || !TARGET_TRAITS[plan.target.kind].affectsCosts) return [];
  return [{ day: dayOf(outcome.at), text: `${changeTitle(change)} (${id})` }];
}
