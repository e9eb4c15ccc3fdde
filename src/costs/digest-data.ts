/** What a digest shows, read once for all digests that are due, and what it posted last. */
import { isDeepStrictEqual } from 'node:util';
import { z } from 'zod';
import { type Span, within } from '../base/calendar.ts';
import { addDays, type Day, dayOf, daysBetween } from '../base/time.ts';
import { evolveElsewhere } from '../domain/log-events.ts';
import { selects } from '../domain/policy.ts';
import { type Service, serviceTarget } from '../domain/targets.ts';
import type { Log } from '../log/index.ts';
import type { Floor } from '../maths/anomalies.ts';
import type { DayState, RowSelector } from '../maths/days.ts';
import type { CostReading } from '../maths/report.ts';
import type { Micro } from '../maths/rows.ts';
import { reading, type Store, type StoreTx } from '../storage/index.ts';
import { type BudgetUpdate, evaluateBudgets } from './budget-notices.ts';
import { type Budget, budgetStandings } from './budgets.ts';
import type { DigestOptions } from './config.ts';
import { readExpected } from './incidents.ts';
import { selectedCosts } from './organizations.ts';
import { costScope } from './scope.ts';
import { readState, writeState } from './store.ts';
import type { DigestSubscription } from './subscriptions.ts';
import { type Judgement, judgeCosts, modelSpan } from './unusual.ts';

/** Everything that a digest shows. Composing it reads nothing else. */
export interface DigestFacts {
  readonly read: CostReading;
  /** The UTC day on which the digest is composed. */
  readonly today: Day;
  /** The reported UTC days; of a daily digest, one. */
  readonly covers: Span;
  /** The days since the last daily digest that no digest reported. */
  readonly skipped: readonly Day[];
  readonly selector: RowSelector;
  /** The services or warehouses of the digest, as text; null for all costs. */
  readonly scope: string | null;
  /** The services with costs and unknown tags, which a scope with tags leaves out. */
  readonly untagged: number;
  readonly period: DigestOptions['period'];
  readonly judged: Judgement;
  readonly budgets: readonly DigestBudget[];
  /** In a weekly digest, the changes of its days that were made without Signalbox. */
  readonly elsewhere: number;
  readonly lastPosted: LastPosted | null;
  /** When the next digest is due, if the digest is scheduled. */
  readonly next: Date | null;
}

export interface DigestBudget extends Pick<BudgetUpdate, 'standing' | 'memory'> {
  /** Whether the budget covers exactly the costs of the digest. */
  readonly isOwn: boolean;
}

/** Read once for all digests that are due at the same time. */
export type DigestData = Awaited<ReturnType<typeof gatherDigestData>>;

export interface DigestSources {
  readonly store: Store;
  readonly events: Log;
  readonly costs: (span: Span) => Promise<CostReading>;
  readonly services: () => readonly Service[];
  readonly budgets: readonly Budget[];
  readonly floor: Floor;
  readonly now: () => Date;
}

export async function gatherDigestData(sources: DigestSources) {
  const now = sources.now();
  const today = dayOf(now);
  const span = modelSpan(today);
  const read = await sources.costs(span);
  const services = sources.services();
  const given = { budgets: sources.budgets, services, today };
  const standings = read.rows.length > 0 ? budgetStandings(given, read) : [];
  return {
    today,
    read,
    services,
    expected: await readExpected(sources.events, now),
    floor: sources.floor,
    budgets: await reading(sources.store, (reader) => evaluateBudgets(reader, standings, today)),
  };
}

/** Those of a service that share a message count once. */
export async function countElsewhere(
  { events, services }: Pick<DigestSources, 'events' | 'services'>,
  { period, on }: DigestOptions,
  { first, last }: Span,
): Promise<number> {
  const isOf = (one: Service) =>
    selects(on, serviceTarget(one)) && (on?.teams?.includes(one.team ?? '') ?? true);
  const ids = new Set(services().flatMap((one) => (isOf(one) ? [one.id] : [])));
  const counted = new Set<string>();
  for (const day of period === 'week' ? daysBetween(first, last) : []) {
    const { state } = await events.load(`elsewhere/${day}`, evolveElsewhere);
    for (const { group, service } of state?.found ?? [])
      if (on === null || ids.has(service)) counted.add(`${group} ${service}`);
  }
  return counted.size;
}

type DigestDetails = Pick<DigestFacts, 'covers' | 'skipped' | 'next' | 'lastPosted' | 'elsewhere'>;

/** The facts of one digest, from the data of all. */
export function digestFacts(
  { options, channel }: Pick<DigestSubscription, 'options' | 'channel'>,
  details: DigestDetails,
  data: DigestData,
): DigestFacts {
  const { today, services, expected, floor, budgets } = data;
  const read = selectedCosts(data.read, options.on);
  const { selector, label, untagged } = costScope(options.on, services, read.rows);
  // A digest of everything shows all budgets; a digest of a part, those that notify its channel.
  const isShown = ({ standing: { budget } }: BudgetUpdate) =>
    options.on === null || budget.notify === channel;
  return {
    ...details,
    read,
    today,
    selector,
    scope: label,
    untagged,
    period: options.period,
    judged: judgeCosts({ read, today, floor, expected }, selector),
    budgets: budgets.filter(isShown).map(({ standing, memory }) => ({
      standing,
      memory,
      isOwn: isDeepStrictEqual(standing.budget.on, options.on),
    })),
  };
}

const StoredLast = z.object({
  of: z.string(),
  /** The last reported day of a daily digest. */
  day: z.string(),
  days: z.array(z.object({ day: z.string(), total: z.number() })),
  /** The unusual costs that it showed. */
  reported: z.array(z.string()),
});

/** What a digest posted last: its day, the totals that it knew, and the costs that it reported. */
export type LastPosted = Readonly<z.infer<typeof StoredLast>>;

/** Longer than days usually need to become final: a day is compared when it is final. */
const REMEMBERED_DAYS = 56;

export function toLastPosted(
  facts: DigestFacts,
  states: readonly DayState[],
  reported: readonly string[],
): LastPosted {
  const { covers } = facts;
  const last = { first: addDays(covers.last, -REMEMBERED_DAYS), last: covers.last };
  const known = within(states, last).filter(({ state }) => state !== 'no-data');
  const days = known.map(({ day, total }) => ({ day, total }));
  return { of: nameOf(facts), day: covers.last, days, reported: [...reported] };
}

/** The total of each day in the last digest; empty if it covered other services. */
export function totalsPosted(facts: DigestFacts): ReadonlyMap<Day, Micro> {
  const { lastPosted } = facts;
  const days = lastPosted?.of === nameOf(facts) ? lastPosted.days : [];
  return new Map(days.map(({ day, total }) => [day, total]));
}

function nameOf({ selector: { services, warehouses }, read }: DigestFacts): string {
  const of = [services?.toSorted() ?? null, warehouses?.toSorted() ?? null];
  const shown = read.organizations?.filter(({ isMissing }) => !isMissing).map(({ name }) => name);
  return JSON.stringify(shown ? [...of, shown] : of);
}

export async function storeLastPosted(
  tx: StoreTx,
  digest: string,
  last: LastPosted,
): Promise<void> {
  await writeState(tx, keyOf(digest), JSON.stringify(last));
}

export async function readLastPosted(store: Store, digest: string): Promise<LastPosted | null> {
  const text = await reading(store, (reader) => readState(reader, keyOf(digest)));
  const stored = text === null ? null : StoredLast.safeParse(JSON.parse(text));
  return stored?.success ? stored.data : null;
}

export async function deleteLastPosted(tx: StoreTx, digest: string): Promise<void> {
  await tx.deleteFrom('cost_state').where('key', '=', keyOf(digest)).execute();
}

function keyOf(digest: string): string {
  return `said:${digest}`;
}
