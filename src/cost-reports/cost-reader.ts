import type { Logger } from 'pino';
import { z } from 'zod';
import type { CloudClient } from '../cloud/client.ts';
import { type Day, dayNumber, dayOf } from '../costs/calendar/day.ts';
import { fetchSpan, windowsOf } from '../costs/calendar/windows.ts';
import type { CostGap, CostReading } from '../costs/ledger/costs-read.ts';
import { type DayState, dayStates } from '../costs/ledger/ledger.ts';
import { readReport } from '../costs/ledger/report.ts';
import type { ReportProblem } from '../costs/ledger/report-problem.ts';
import type { CostRow } from '../costs/ledger/row.ts';
import { ApiError } from '../errors.ts';
import type { Database } from '../storage/engine/database.ts';
import {
  loadMonth,
  recordSnapshots,
  type StoredMonth,
  storeMonth,
} from '../storage/tables/costs.ts';

/** An open month is fetched again when it is this old. */
const KEEP_MS = 15 * 60_000;
const LONG_AGO_DAYS = 31;

interface Report {
  readonly rows: readonly CostRow[];
  readonly problems: readonly ReportProblem[];
}
type Month = StoredMonth<Report>;

// Each row was validated when it was fetched, so a stored report is not validated row by row.
const StoredReport = z
  .custom<Report>(
    (value) =>
      typeof value === 'object' && value !== null && 'rows' in value && 'problems' in value,
  )
  // Earlier releases stored some problems without their day. They are dropped here.
  .transform(({ rows, problems }) => ({
    rows,
    problems: problems.filter((problem) => 'figure' in problem || 'of' in problem),
  }));

export interface CostReadOptions {
  /** If requests are rate limited, questions of people come before digests. */
  readonly priority: 'people' | 'digest';
  /** Ignores stored months, except months that are final. */
  readonly fresh?: boolean;
}

export type ReadCosts = (
  span: { first: Day; last: Day },
  how: CostReadOptions,
) => Promise<CostReading>;

interface Parts {
  readonly cloud: CloudClient;
  readonly database: Database;
  readonly now: () => Date;
  readonly log: Logger;
}

/**
 * Reads costs by calendar month, so that all periods share few API calls. Concurrent reads of a
 * month share one fetch. An open month is kept for 15 minutes, a final month for ever.
 * Source: docs/costs.md#fetching.
 */
export function createCostReader({ cloud, database, now, log }: Parts): ReadCosts {
  const kept = new Map<string, Month>();
  const underWay = new Map<string, Promise<Month>>();

  async function monthOf(month: string, how: CostReadOptions): Promise<Month> {
    const known = kept.get(month) ?? (await loadMonth(database.db, month, StoredReport));
    if (known) kept.set(month, known);
    if (known && isGood(known, how)) return known;
    const running = underWay.get(month) ?? fetchMonth(month, how.priority);
    underWay.set(month, running);
    return running.finally(() => underWay.delete(month));
  }

  function isGood({ final, fetchedAt }: Month, { fresh }: CostReadOptions): boolean {
    return final || (!fresh && now().getTime() - fetchedAt.getTime() < KEEP_MS);
  }

  async function fetchMonth(month: string, priority: CostReadOptions['priority']): Promise<Month> {
    const fetchedAt = now();
    const today = dayOf(fetchedAt);
    const span = fetchSpan(month, today);
    const period = { from_date: span.first, to_date: span.last };
    const { result } = await cloud.getUsageCost(period, { priority });
    const { rows, problems } = readReport(result, span);
    const days = dayStates(rows, span);
    const final = isSettled(days, span.last, today);
    const fetched = { month, fetchedAt, final, report: { rows, problems } };
    kept.set(month, fetched);
    await keep(fetched, days);
    return fetched;
  }

  async function keep(month: Month, days: ReturnType<typeof dayStates>): Promise<void> {
    const totals = days
      .filter(({ state }) => state !== 'no-data')
      .map(({ day, total, state }) => ({ day, total, final: state === 'final' }));
    await database.transaction(async (tx) => {
      await storeMonth(tx, month);
      const { fetchedAt } = month;
      await recordSnapshots(
        tx,
        totals.map((one) => ({ ...one, fetchedAt })),
      );
    });
  }

  return async (span, how) => {
    const parts: Month[] = [];
    const gaps: CostGap[] = [];
    // Months are fetched one after another: the API is rate limited, and commands go between.
    for (const { month } of windowsOf(span)) {
      try {
        parts.push(await monthOf(month, how));
      } catch (error) {
        // A fetch that was stopped with the process is not a gap: a digest would report a failure.
        if (error instanceof ApiError && error.kind === 'stopping') throw error;
        log.warn({ err: error, month }, 'the costs of a month were not read');
        const before = kept.get(month) ?? null;
        if (before) parts.push(before);
        gaps.push({ month, ...reasonOf(error), from: before?.fetchedAt ?? null });
      }
    }
    const times = parts.map(({ fetchedAt }) => fetchedAt.getTime());
    return {
      rows: parts
        .flatMap(({ report }) => report.rows)
        .filter(({ day }) => day >= span.first && day <= span.last),
      fetchedAt: times.length > 0 ? new Date(Math.min(...times)) : null,
      problems: parts.flatMap(({ report }) => report.problems),
      gaps,
    };
  };
}

/** A day without rows may still get rows. After another month, it counts as a day without costs. */
function isSettled(days: readonly DayState[], last: Day, today: Day): boolean {
  if (last >= today) return false;
  const isLongAgo = dayNumber(today) - dayNumber(last) > LONG_AGO_DAYS;
  return days.every(({ state }) => state === 'final' || (isLongAgo && state === 'no-data'));
}

function reasonOf(error: unknown): Pick<CostGap, 'why' | 'denied'> {
  if (!(error instanceof ApiError)) return { why: 'internal error of Signalbox', denied: false };
  const text = error.serverText ?? error.sentence;
  const denial = DENIALS.get(error.status);
  return denial ? { why: `${denial}: ${text}`, denied: true } : { why: text, denied: false };
}

const DENIALS: ReadonlyMap<number | null, string> = new Map([
  [401, 'the API key is not accepted'],
  [403, 'the API key may not read it'],
]);
