import type { Logger } from 'pino';
import { z } from 'zod';
import { monthSoFar, monthSpan, monthsOf, type Span, within } from '../base/calendar.ts';
import { ApiError } from '../base/errors.ts';
import { addDays, DAY_MS, type Day, dayNumber, dayOf } from '../base/time.ts';
import type { Log } from '../log/index.ts';
import {
  type DayState,
  dayStates,
  LEARNED_DAYS,
  learnCompleteness,
  openDayOf,
  type SnapshotHistory,
  snapshotHistory,
} from '../maths/days.ts';
import { type PriceList, withPrices } from '../maths/money.ts';
import { type CostGap, type CostReading, createReportReader } from '../maths/report.ts';
import { type CostRow, entityKey, entityOf, type OpenDay } from '../maths/rows.ts';
import type { CloudClient } from '../servers/cloud.ts';
import { learnServices } from '../servers/facts.ts';
import { reading, type Store, transaction } from '../storage/index.ts';
import { appliedChanges } from './applied-changes.ts';
import {
  costSnapshots,
  loadMonth,
  recordSnapshots,
  type StoredMonth,
  storeMonth,
} from './store.ts';

export interface CostReadOptions {
  /** If requests are rate limited, questions of people come before digests. */
  readonly priority: 'people' | 'background';
  /** Ignores stored months, except months that are final. */
  readonly fresh?: boolean;
  /** Never calls the API: a month that is not stored is a gap. */
  readonly storedOnly?: boolean;
}

export interface ReaderParts {
  readonly cloud: CloudClient;
  /** Stored reports of another organization do not count. */
  readonly organizationId: string;
  /** The name of one of several; null or absent: rows do not name it. */
  readonly organization?: string | null;
  readonly store: Store;
  readonly events: Log;
  /** Adds to each row the price of its day. */
  readonly prices?: PriceList | null;
  readonly now: () => Date;
  readonly log: Logger;
}

/** An open month is fetched again when it is this old. */
const KEEP_MS = 15 * 60_000;

/**
 * Reads costs by calendar month, so that all periods share few API calls. Concurrent reads of a
 * month share one fetch. An open month is kept for 15 minutes, a final month for ever.
 * Source: docs/costs.md#fetching.
 */
export function createCostReader(
  parts: ReaderParts,
): (span: Span, how: CostReadOptions) => Promise<CostReading> {
  const { cloud, organizationId, organization, store, events, prices = null, now, log } = parts;
  const kept = new Map<string, Month>();
  const fetching = new Map<string, Promise<Month>>();
  async function monthOf(month: string, how: CostReadOptions): Promise<Month> {
    const known = await latestCopy(month);
    if (known && isFresh(known, how)) return known;
    const running = fetching.get(month) ?? fetchMonth(month, how.priority);
    fetching.set(month, running);
    return running.finally(() => fetching.delete(month));
  }

  /** The copy in memory, or a later one that another replica stored. */
  async function latestCopy(month: string): Promise<Month | null> {
    const own = kept.get(month) ?? null;
    if (own?.final) return own;
    const after = own?.fetchedAt ?? null;
    const stored = await reading(store, (reader) =>
      loadMonth(reader, { organizationId, month, after }, StoredReport),
    );
    return stored ? remember(stored) : own;
  }

  function remember(month: Month): Month {
    const { rows, problems } = month.report;
    const named = organization ? rows.map((row) => ({ ...row, organization })) : rows;
    const remembered = { ...month, report: { rows: named, problems } };
    kept.set(month.month, remembered);
    return remembered;
  }

  function isFresh(month: Month, { fresh }: CostReadOptions): boolean {
    return month.final || (!fresh && now().getTime() - month.fetchedAt.getTime() < KEEP_MS);
  }

  async function fetchMonth(month: string, priority: CostReadOptions['priority']): Promise<Month> {
    const fetchedAt = now();
    const today = dayOf(fetchedAt);
    const span = monthSoFar(month, today);
    const period = { from_date: span.first, to_date: span.last };
    const { result } = await cloud.getUsageCost(period, { priority });
    const reader = createReportReader(span);
    reader.add(result.costs);
    const { rows, problems } = reader.finish(result.grandTotalCredits);
    const days = dayStates(rows, span);
    const final = isFinalMonth(days, span.last, today);
    const report = { rows, problems };
    const fetched = { month, fetchedAt, final, report };
    const remembered = remember(fetched);
    await keep(fetched, days);
    return remembered;
  }

  async function keep(month: Month, days: ReturnType<typeof dayStates>): Promise<void> {
    const { fetchedAt } = month;
    const seen = days
      .filter(({ state }) => state !== 'no-data')
      .map(({ day, total, state }) => ({ day, fetchedAt, total, final: state === 'final' }));
    await transaction(store, async (tx) => {
      await storeMonth(tx, organizationId, month);
      await recordSnapshots(tx, organizationId, seen);
    });
  }

  return async (span, how) => {
    const months: Month[] = [];
    const gaps: CostGap[] = [];
    // Months are fetched one after another: the API is rate limited, and commands go between.
    for (const month of monthsOf(span)) {
      if (how.storedOnly) {
        const stored = await latestCopy(month);
        const gap = { month, why: 'not read yet', denied: false, from: stored?.fetchedAt ?? null };
        if (stored) months.push(stored);
        // One of several is left out where the others have more days.
        if (!stored || (organization && isBehind(gap, span, dayOf(now())))) gaps.push(gap);
        continue;
      }
      try {
        months.push(await monthOf(month, how));
      } catch (error) {
        // A fetch that was stopped with the process is not a gap: a digest would report a failure.
        if (error instanceof ApiError && error.kind === 'stopping') throw error;
        log.warn({ err: error, month }, 'the costs of a month were not read');
        const before = kept.get(month) ?? null;
        if (before) months.push(before);
        gaps.push({ month, ...reasonOf(error), from: before?.fetchedAt ?? null });
      }
    }
    const from = addDays(dayOf(now()), -LEARNED_DAYS);
    const history = snapshotHistory(
      await reading(store, (reader) => costSnapshots(reader, organizationId, from)),
    );
    const rows = months.flatMap(({ report, fetchedAt }) =>
      withOpenDays({ rows: report.rows, fetchedAt }, history),
    );
    return {
      rows: withPrices(distinctNames(within(rows, span)), prices),
      ...ageOf(months, gaps),
      problems: months.flatMap(({ report }) => report.problems),
      gaps,
      changes: await appliedChanges(events, dayOf(now())),
      prices,
    };
  };
}

/** Whether a copy lacks a day that others have, those that were read `today`: it would count as 0. */
export function isBehind(
  { month, from }: Pick<CostGap, 'month' | 'from'>,
  { last }: Span,
  today: Day,
): boolean {
  if (from === null) return true;
  const [end = last] = [last, monthSpan(month).last, addDays(today, -1)].toSorted();
  return dayOf(from) <= end;
}

type Report = Pick<CostReading, 'rows' | 'problems'>;
type Month = StoredMonth<Report>;

// Each row was validated when it was fetched, so a stored report is not validated row by row.
const StoredReport = z.custom<Report>(
  (value) => typeof value === 'object' && value !== null && 'rows' in value && 'problems' in value,
);

/**
 * The same rows; those of a day that is not final show how complete it is. All of them count as not
 * final, because the day can still get rows. Source: docs/forecasts.md#completeness.
 */
export function withOpenDays(
  { rows, fetchedAt }: Pick<Report, 'rows'> & Pick<Month, 'fetchedAt'>,
  history: SnapshotHistory,
): readonly CostRow[] {
  const days = new Set(rows.flatMap(({ day, locked }) => (locked ? [] : [day])));
  if (days.size === 0) return rows;
  const learned = learnCompleteness(history, fetchedAt);
  return withOpen(rows, new Map([...days].map((day) => [day, openDayOf(day, fetchedAt, learned)])));
}

/** The rows of these days count as not final, and show how complete their day is. */
export function withOpen(
  rows: readonly CostRow[],
  open: ReadonlyMap<Day, OpenDay>,
): readonly CostRow[] {
  return rows.map((row) => {
    const openDay = open.get(row.day);
    return openDay ? { ...row, locked: false, openDay } : row;
  });
}

/**
 * The rows with the latest name of each entity; entities of one name get their organization or a
 * short id, because they would look like one line that is new and one that is gone.
 */
export function distinctNames(rows: readonly CostRow[]): readonly CostRow[] {
  const latest = new Map<string, CostRow>();
  for (const row of rows) {
    const known = latest.get(entityKey(row));
    if (!known || known.day <= row.day) latest.set(entityKey(row), row);
  }
  const alike = Map.groupBy(latest.values(), ({ kind, entityName }) => `${kind} ${entityName}`);
  const names = new Map<string, string>();
  for (const group of alike.values()) {
    if (group.length === 1) continue;
    const isShort =
      new Set(group.map(({ entityId }) => entityId.slice(0, 4))).size === group.length;
    const isApart = new Set(group.map(({ organization }) => organization)).size === group.length;
    for (const one of group) {
      const id = isShort ? one.entityId.slice(0, 4) : one.entityId;
      const { entityName: name, organization } = one;
      names.set(entityKey(one), isApart ? `${organization}/${name}` : `${name} (${id})`);
    }
  }
  if (names.size === 0) return rows;
  return rows.map((row) => {
    const entityName = names.get(entityKey(row));
    return entityName === undefined ? row : { ...row, entityName };
  });
}

function ageOf(
  months: readonly Month[],
  gaps: readonly CostGap[],
): Pick<CostReading, 'fetchedAt' | 'isFinal'> {
  const timesOf = (some: readonly Month[]) => some.map(({ fetchedAt }) => fetchedAt.getTime());
  const open = timesOf(months.filter(({ final }) => !final));
  if (open.length > 0) return { fetchedAt: new Date(Math.min(...open)) };
  if (months.length === 0) return { fetchedAt: null };
  const fetchedAt = new Date(Math.max(...timesOf(months)));
  return gaps.length === 0 ? { fetchedAt, isFinal: true } : { fetchedAt };
}

const LONG_AGO_DAYS = 31;

/** A day without rows may still get rows. After another month, it counts as a day without costs. */
function isFinalMonth(days: readonly DayState[], last: Day, today: Day): boolean {
  if (last >= today) return false;
  const isLongAgo = dayNumber(today) - dayNumber(last) > LONG_AGO_DAYS;
  return days.every(({ state }) => state === 'final' || (isLongAgo && state === 'no-data'));
}

function reasonOf(error: unknown): Pick<CostGap, 'why' | 'denied'> {
  if (!(error instanceof ApiError)) return { why: 'internal error of Signalbox', denied: false };
  const text = error.serverText ?? error.sentence;
  return { why: text, denied: error.status === 401 || error.status === 403 };
}

const DAYS_BACK = 7;

/**
 * Stores the names of services in the usage report, so that users can name services that the
 * configuration does not list. Returns how many it found. The report has no state of a service.
 */
export async function learnFromUsage(
  context: Pick<ReaderParts, 'cloud' | 'organizationId' | 'store' | 'now'>,
): Promise<number> {
  const { organizationId } = context;
  const seenAt = context.now();
  const from = new Date(seenAt.getTime() - DAYS_BACK * DAY_MS);
  const period = { from_date: dayOf(from), to_date: dayOf(seenAt) };
  const report = await context.cloud.getUsageCost(period, { priority: 'background' });

  const names = new Map<string, string>();
  const days = report.result.costs.toSorted((a, b) => ((a.date ?? '') < (b.date ?? '') ? -1 : 1));
  for (const row of days) {
    const { serviceId, entityId, entityName } = row;
    // A pipe's row has the id of its service but the name of the pipe.
    if (!serviceId || serviceId !== entityId || !entityName) continue;
    // A warehouse may have the id of its service.
    if (entityOf(row, entityId).kind === 'service') names.set(serviceId, entityName);
  }
  const own = { organizationId, fields: {}, source: 'usage report', seenAt } as const;
  const all = [...names].map(([id, name]) => ({ ...own, id, name }));
  await transaction(context.store, (tx) => learnServices(tx, all));
  return names.size;
}
