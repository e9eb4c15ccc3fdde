/** Posts what no digest shows in time: severe unusual costs, and news of budgets. */
import type { Logger } from 'pino';
import type { Span } from '../base/calendar.ts';
import { traced } from '../base/log.ts';
import { dayOf, HOUR_MS } from '../base/time.ts';
import type { Service } from '../domain/targets.ts';
import { append, type Log } from '../log/index.ts';
import type { UnusualCost } from '../maths/anomalies.ts';
import { selectRows } from '../maths/days.ts';
import { partsOf } from '../maths/lines.ts';
import type { CostReading } from '../maths/report.ts';
import { reading, type StoreTx } from '../storage/index.ts';
import { type Announcement, announced } from './announcements.ts';
import { budgetMessages, evaluateBudgets, storeBudgets } from './budget-notices.ts';
import { type Budget, budgetStandings, missingText } from './budgets.ts';
import { hasSlotOn } from './digest-schedule.ts';
import { judgeNow, type UnusualContext } from './incident-answers.ts';
import { incidentId, isAnnounced, unusualMessage } from './incidents.ts';
import { readNow, selectedCosts, withoutText } from './organizations.ts';
import { costScope } from './scope.ts';
import { readState, writeState } from './store.ts';
import {
  type DigestSubscription,
  loadSubscriptions,
  type SubscriptionSources,
} from './subscriptions.ts';
import { excessOf, type Judgement, modelSpan } from './unusual.ts';

export interface WatchContext extends SubscriptionSources, UnusualContext {
  readonly budgets: readonly Budget[];
  readonly services: () => readonly Service[];
  readonly log: Logger;
}

const FIRST_SCAN_AFTER_MS = 60_000;
const SCAN_EVERY_MS = 15 * 60_000;
/** Figures of the previous day are scanned from 06:00 UTC on. */
const COMPLETE_AFTER_MS = 6 * HOUR_MS;

/**
 * Watches costs and budgets once a day. Every replica scans, unless another one stored the results of the day. Returns
 * 1 if this replica did, else 0.
 */
export function createCostWatch(context: WatchContext): () => Promise<unknown> {
  // Limits how often the usage report is read. The stored state decides whether a scan is due.
  let next = context.now().getTime() + FIRST_SCAN_AFTER_MS;
  return async () => {
    const now = context.now();
    if (now.getTime() < next) return 'not-due';
    next = now.getTime() + SCAN_EVERY_MS;
    return traced({ name: 'watch costs' }, () => watchOnce(context, now));
  };
}

/**
 * The UTC day of the last scan, and the organizations that it was without: one value for all replicas.
 */
const WATCH_KEY = 'costs-watched-on';

async function watchOnce(context: WatchContext, now: Date): Promise<void> {
  const { store, events } = context;
  const before = await reading(store, (reader) => readState(reader, WATCH_KEY));
  const day = dayOf(new Date(now.getTime() - COMPLETE_AFTER_MS));
  if (before !== null && before >= day && !before.includes(' ')) return;

  const costs = async (span: Span) => readNow(await context.costs(span));
  const { read, judged } = await judgeNow({ ...context, costs });
  const today = dayOf(now);
  // Scanned again on the same day when an organization that was left out can be read.
  const ranOn = `${day}${withoutText(read)}`;
  const isUnread = read.gaps.some(({ organization }) => organization === undefined);
  if (isUnread || missingText(read, modelSpan(today)) !== null) {
    // Missing figures would look like a drop, and old figures like no change.
    context.log.warn({ gaps: read.gaps }, 'costs were not judged: the report could not be read');
    return;
  }
  const services = context.services();
  const standings = budgetStandings({ budgets: context.budgets, services, today }, read);
  const budgets = await reading(store, (reader) => evaluateBudgets(reader, standings, today));
  const { all } = await loadSubscriptions(events, context);
  const digests = all.filter(({ paused }) => !paused);
  // The costs before the first scan are not news.
  const news = before === null ? [] : await severeNews(events, judged);
  const found = news.flatMap((one) => {
    const covering = digests.filter(({ options }) => covers(options, one, services, read));
    return announcementOf(one, covering, now);
  });
  const isInDigest = ({ notify }: Budget) =>
    digests.some((one) => one.channel === notify && isShownOn(one, now));
  const messages = [...found, ...budgetMessages(budgets, isInDigest)];
  const cache = async (tx: StoreTx) => {
    await writeState(tx, WATCH_KEY, ranOn);
    await storeBudgets(tx, budgets);
  };
  // Another replica that was as fast announces the same names, which are posted once.
  await append(events, async (locked) => ({
    ...(await announced(locked, messages, locked.at)),
    cache,
    result: null,
  }));
}

function isShownOn(one: DigestSubscription, now: Date): boolean {
  return one.options.period === 'day' && hasSlotOn(one, now);
}

const SEVERE_SHARE = 0.1;
const SEVERE_CHANGE = 0.8;

/** Whether it is worth a message of its own: 10% of the usual day of all costs, and at least +80%. */
export function isSevere(unusual: UnusualCost, usualDay: number): boolean {
  const change = unusual.relative ?? Number.POSITIVE_INFINITY;
  return excessOf(unusual) >= SEVERE_SHARE * usualDay && change >= SEVERE_CHANGE;
}

/** The severe unusual costs that no message announced. */
async function severeNews(events: Log, judged: Judgement): Promise<readonly UnusualCost[]> {
  const news: UnusualCost[] = [];
  for (const one of judged.unusual) {
    if (isSevere(one, judged.usualDay) && !(await isAnnounced(events, one))) news.push(one);
  }
  return news;
}

/** Announced if no digest shows it on this day, for the first channel whose digest covers it. */
function announcementOf(
  unusual: UnusualCost,
  covering: readonly DigestSubscription[],
  now: Date,
): readonly Announcement[] {
  const [first] = covering;
  if (!first || covering.some((one) => isShownOn(one, now))) return [];
  const name = `post/incident-${incidentId(unusual)}` as const;
  return [{ name, channel: first.channel, answer: unusualMessage(unusual) }];
}

function covers(
  { on }: DigestSubscription['options'],
  { key }: UnusualCost,
  services: readonly Service[],
  read: CostReading,
): boolean {
  const { rows } = selectedCosts(read, on);
  const { selector } = costScope(on, services, rows);
  const lineOf = partsOf('service');
  return selectRows(rows, selector).some((row) => lineOf(row)[0]?.key === key);
}
