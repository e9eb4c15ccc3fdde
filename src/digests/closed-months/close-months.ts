import { addMonths, monthOf, monthSpan, previousMonth } from '../../costs/calendar/calendar.ts';
import { addDays, dayOf } from '../../costs/calendar/day.ts';
import type { CostReading } from '../../costs/ledger/costs-read.ts';
import { entityTotals } from '../../costs/ledger/entity-totals.ts';
import { traced } from '../../observability/trace.ts';
import { costSnapshots } from '../../storage/tables/costs.ts';
import type { BackgroundLoop } from '../../workflow/background/scheduler.ts';
import { type Announcement, enqueueReport } from '../../workflow/notify/announcement.ts';
import type { DigestContext } from '../digest-context.ts';
import { channelsLeftToDigests, closingChannels, closingKey } from './closing-channels.ts';
import {
  type ClosingKey,
  type ClosingRecord,
  dropClosing,
  readClosing,
  recordedMonths,
  type StoredClosing,
  storeClosing,
} from './closing-record.ts';
import { closingAnswer } from './closing-text.ts';

const FIRST_ROUND_AFTER_MS = 60_000;
const ROUND_EVERY_MS = 15 * 60_000;
/** Until then, the report has few figures of the last day. */
const FIRST_REPORT_AFTER_MS = 6 * 3_600_000;
const KEPT_MONTHS = 4;

/**
 * Announces each month once when it is final, in the channels that get digests, with what changed
 * since the first report after its end. Every replica runs it; the stored record lets one announce.
 * Returns the number of announcements. Source: docs/digests.md#final-months.
 */
export function createMonthClosing(context: DigestContext): BackgroundLoop {
  let next = context.now().getTime() + FIRST_ROUND_AFTER_MS;
  return async () => {
    const now = context.now();
    if (now.getTime() < next) return 0;
    next = now.getTime() + ROUND_EVERY_MS;
    return traced({ name: 'close months' }, () => closeMonths(context, now));
  };
}

async function closeMonths(context: DigestContext, now: Date): Promise<number> {
  const { database, organizationId, log } = context;
  const latest = monthOf(previousMonth(dayOf(now)).first);
  const oldest = monthOf(addMonths(`${latest}-01`, 1 - KEPT_MONTHS));
  const known = await recordedMonths(database.db, organizationId);
  let announced = 0;
  for (const month of [...new Set([...known, latest])]) {
    const key = { month, organizationId };
    if (month < oldest) {
      await database.transaction((tx) => dropClosing(tx, key));
      continue;
    }
    try {
      announced += await closeMonth(context, month, now);
    } catch (err) {
      // One unreadable record must not stop the other months.
      log.error({ err, month }, 'the end of a month was not checked; it is checked again');
    }
  }
  return announced;
}

async function closeMonth(context: DigestContext, month: string, now: Date): Promise<number> {
  const key = { month, organizationId: context.organizationId };
  const stored = await readClosing(context.database.db, key);
  if (stored.record?.done) return 0;
  const read = await context.costs(monthSpan(month));
  const { rows, gaps, fetchedAt, isFinal = false } = read;
  if (gaps.length > 0 || rows.length === 0 || !fetchedAt || fetchedAt < firstReportAt(month))
    return 0;
  if (stored.record === null) {
    const first = { at: fetchedAt, rows: entityTotals(rows) };
    // A month that was final before Signalbox first read it is not announced.
    const done = isFinal && !(await wasRead(context, month));
    return storeNext(context, { key, stored, record: { first, announced: [], done } }, []);
  }
  if (!isFinal) return 0;
  return announce(
    context,
    { key, stored, record: stored.record },
    { read, finalAt: fetchedAt, now },
  );
}

function firstReportAt(month: string): Date {
  const end = addDays(monthSpan(month).last, 1);
  return new Date(Date.parse(`${end}T00:00:00Z`) + FIRST_REPORT_AFTER_MS);
}

/** Whether Signalbox read the costs of the month before it ended. */
async function wasRead({ database, organizationId }: DigestContext, month: string) {
  const { first, last } = monthSpan(month);
  const end = `${addDays(last, 1)}T00:00:00.000Z`;
  const all = await costSnapshots(database.db, organizationId, first);
  return all.some(({ day, fetchedAt }) => day <= last && fetchedAt.toISOString() < end);
}

interface Step {
  readonly key: ClosingKey;
  readonly stored: StoredClosing;
  readonly record: ClosingRecord;
}

async function announce(
  context: DigestContext,
  { key, stored, record }: Step,
  {
    read,
    finalAt,
    now,
  }: { readonly read: CostReading; readonly finalAt: Date; readonly now: Date },
): Promise<number> {
  const channels = await closingChannels(context, now);
  if (channels === null) return 0;
  const left = await channelsLeftToDigests(context, channels, { month: key.month, finalAt, now });
  const due = channels.filter((one) => !left.includes(one) && !record.announced.includes(one.name));
  const done = left.length === 0;
  if (due.length === 0 && !done) return 0;
  const next = {
    ...record,
    announced: [...record.announced, ...due.map(({ name }) => name)],
    done,
  };
  const services = context.services();
  const messages = due.map(({ name, channel, on }) => ({
    key: closingKey(key, name),
    channel,
    thread: null,
    answer: closingAnswer({ month: key.month, first: record.first, on, read, services }),
  }));
  return storeNext(context, { key, stored, record: next }, messages);
}

/** Returns the number of announcements; 0 if another replica stored a record meanwhile. */
function storeNext(
  { database, now }: DigestContext,
  { key, stored, record }: Step,
  messages: readonly Announcement[],
): Promise<number> {
  return database.transaction(async (tx) => {
    if (!(await storeClosing(tx, key, stored, record))) return 0;
    for (const each of messages) await enqueueReport(tx, each, now());
    return messages.length;
  });
}
