/** What a digest shows, read once for all digests that are due, and the figures it posted last. */
import { isDeepStrictEqual } from 'node:util';
import { z } from 'zod';
import { addMonths, monthOf, type Span } from '../base/calendar.ts';
import { addDays, type Day, dayNumber, dayOf } from '../base/time.ts';
import type { AnswerPart } from '../domain/answer.ts';
import { type Change, changeTitle, TARGET_TRAITS } from '../domain/change.ts';
import type { Service } from '../domain/targets.ts';
import { type Log, listChanges } from '../log/index.ts';
import { mergeRelated, minImpactOf } from '../maths/anomalies.ts';
import {
  type DayState,
  dayStates,
  FRESH_DAYS,
  isSettledDay,
  type RowSelector,
  type SnapshotHistory,
  selectRows,
  snapshotHistory,
  statesWithin,
} from '../maths/days.ts';
import { seriesFrom } from '../maths/lines.ts';
import type { CostReading, PostedDay } from '../maths/report.ts';
import { type CostRow, type DayValue, entityKey, type Micro, microOf } from '../maths/rows.ts';
import { SETTLED_HISTORY_DAYS } from '../maths/statistics.ts';
import { reading, type Store, type StoreTx } from '../storage/index.ts';
import { type BudgetSummary, budgetSummary } from './budget-answer.ts';
import { type Budget, type BudgetStanding, budgetStandings } from './budgets.ts';
import type { DigestOptions } from './config.ts';
import { anomalySummary, incidentButtons, recentAnomalies } from './incidents.ts';
import { costScope } from './scope.ts';
import { costSnapshots, dropState, readState, writeState } from './store.ts';
import type { DigestSubscription } from './subscriptions.ts';
import { isWatchLate, readWatch } from './watch.ts';

/** Everything that a digest shows. Composing it reads nothing else. */
export interface DigestFacts {
  readonly read: CostReading;
  /** The UTC day on which the digest is composed. */
  readonly today: Day;
  /** The states of all days of `rowsNeeded(today)`, for the whole organization. */
  readonly states: readonly DayState[];
  /** The UTC days that ended since the last digest. */
  readonly covers: Span;
  readonly selector: RowSelector;
  /** The services or warehouses of the digest, as text; null for all costs. */
  readonly scope: string | null;
  /** The services with costs and unknown tags, which a scope with tags leaves out. */
  readonly untagged: number;
  readonly options: ShownOptions;
  readonly posted: readonly PostedDay[];
  readonly changes: readonly ExecutedChange[];
  readonly attention: DigestAttention;
  /** When the next digest is due, if the digest is scheduled. */
  readonly next: Date | null;
}

/** A change that ran, as a line of the digest. */
export interface ExecutedChange {
  readonly day: Day;
  /** `Scale analytics-prod (7KQ2MX)` */
  readonly text: string;
}

/** An anomaly as a line of the digest. */
export interface AnomalyItem {
  readonly text: string;
  readonly buttons: AnswerPart;
}

export interface DigestBudget extends BudgetSummary {
  /** Whether the budget covers exactly the costs of the digest. */
  readonly isOwn: boolean;
}

interface DigestAttention {
  /** Null if the last scan is too old to claim that nothing is unusual. */
  readonly anomalies: readonly AnomalyItem[] | null;
  readonly budgets: readonly DigestBudget[];
}

type ShownOptions = Pick<DigestOptions, 'period' | 'sections' | 'minimumCredits' | 'increasesOnly'>;

export async function gatherDigestData(sources: {
  readonly store: Store;
  readonly events: Log;
  readonly organizationId: string;
  readonly costs: (span: Span) => Promise<CostReading>;
  readonly services: readonly Service[];
  readonly budgets: readonly Budget[];
  readonly now: Date;
}): Promise<DigestData> {
  const { store, events, organizationId } = sources;
  const today = dayOf(sources.now);
  const span = rowsNeeded(today);
  const [read, stored, changes] = await Promise.all([
    sources.costs(span),
    reading(store, (reader) =>
      costSnapshots(reader, organizationId, addDays(today, -SNAPSHOT_DAYS)),
    ),
    listChanges(events, { states: ['succeeded'], limit: CHANGES_MAX }),
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

/** The days whose rows a digest needs: ten weeks of history, and all of the previous month. */
export function rowsNeeded(today: Day): Span {
  const history = addDays(today, -SETTLED_HISTORY_DAYS);
  const month = `${monthOf(addMonths(today, -2))}-01`;
  return { first: history < month ? history : month, last: today };
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

interface AttentionContext {
  readonly store: Store;
  readonly events: Log;
  readonly now: () => Date;
}

/** A digest of everything shows all budgets; a digest of a part, those that notify its channel. */
function isShown({ channel, options }: DigestSubscription, { budget }: BudgetStanding): boolean {
  return options.on === null || budget.notify === channel;
}

/** Null if the last scan is too old to claim that nothing is unusual. */
async function anomalyItems(
  context: AttentionContext,
  { options }: DigestSubscription,
  { read, services }: DigestData,
): Promise<readonly AnomalyItem[] | null> {
  const now = context.now();
  const { state } = await readWatch(context.store);
  if (!state || isWatchLate(state, now)) return null;
  const { selector } = costScope(options.on, services, read.rows);
  const covered = new Set(selectRows(read.rows, selector).map(entityKey));
  const all = await recentAnomalies(context, now);
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

/** The rows of one digest, and what is computed from them once. */
export interface DigestMeasures {
  readonly rows: readonly CostRow[];
  /** The days with the totals of these rows. */
  readonly states: readonly DayState[];
  readonly series: readonly DayValue[];
  readonly minimum: Micro;
  /** The day of the headline; null if the report has no data. */
  readonly day: DayValue | null;
}

export function measure(facts: DigestFacts): DigestMeasures {
  const rows = selectRows(facts.read.rows, facts.selector);
  const states = statesWithin(facts.states, rows);
  const series = seriesFrom(states);
  const minimum = microOf(facts.options.minimumCredits ?? minImpactOf(series));
  const headline = headlineDay(facts.states, facts.today);
  const day = headline ? valueOn(series, headline.day) : null;
  return { rows, states, series, minimum, day };
}

/**
 * The headline day of a report: the last settled day if it is at most five days ago, else the last
 * complete day with rows, which is not settled; null without any.
 * Source: docs/costs.md#day-states-and-locking.
 */
export function headlineDay(states: readonly DayState[], today: Day): DayState | null {
  const past = states.filter(({ day, state }) => day < today && state !== 'no-data');
  const settled = past.findLast(isSettledDay);
  const isFresh = settled && dayNumber(today) - dayNumber(settled.day) <= FRESH_DAYS;
  return (isFresh ? settled : past.at(-1)) ?? null;
}

function valueOn(series: readonly DayValue[], day: Day): DayValue | null {
  return series.find((one) => one.day === day) ?? null;
}

const StoredFigures = z.object({
  of: z.string(),
  days: z.array(z.object({ day: z.string(), total: z.number() })),
});

/** The daily totals that a digest posted last, and the selector that they belong to. */
export type LastPostedFigures = z.infer<typeof StoredFigures>;

/** Longer than days usually need to become final: a revision is shown when its day is final. */
const REMEMBERED_DAYS = 56;

export function toLastPosted(
  states: readonly DayState[],
  selector: RowSelector,
): LastPostedFigures {
  const known = states.filter(({ state }) => state !== 'no-data').slice(-REMEMBERED_DAYS);
  return { of: nameOf(selector), days: known.map(({ day, total }) => ({ day, total })) };
}

/** Empty if the digest covered other services then: that difference is not a revision. */
export function daysLastPosted(
  figures: LastPostedFigures | null,
  selector: RowSelector,
): readonly PostedDay[] {
  return figures?.of === nameOf(selector) ? figures.days : [];
}

function nameOf({ services, warehouses }: RowSelector): string {
  return JSON.stringify([services?.toSorted() ?? null, warehouses?.toSorted() ?? null]);
}

export async function storeLastPosted(
  tx: StoreTx,
  digest: string,
  figures: LastPostedFigures,
): Promise<void> {
  await writeState(tx, keyOf(digest), JSON.stringify(figures));
}

export async function readLastPosted(
  store: Store,
  digest: string,
): Promise<LastPostedFigures | null> {
  const text = await reading(store, (reader) => readState(reader, keyOf(digest)));
  return text === null ? null : StoredFigures.parse(JSON.parse(text));
}

export async function deleteLastPosted(tx: StoreTx, digest: string): Promise<void> {
  await dropState(tx, keyOf(digest));
}

function keyOf(digest: string): string {
  return `said:${digest}`;
}
