/** What is new about a budget, and the messages about it, each once per month. */
import { createHash } from 'node:crypto';
import { z } from 'zod';
import { monthOf } from '../base/calendar.ts';
import { type Day, dayNumber } from '../base/time.ts';
import type { Answer, AnswerPart } from '../domain/answer.ts';
import { lockAgeText } from '../maths/days.ts';
import type { Forecast } from '../maths/forecast.ts';
import { shareText } from '../maths/numbers.ts';
import type { StoreReader, StoreTx } from '../storage/index.ts';
import type { Announcement } from './announcements.ts';
import { budgetFacts, headingText, rate } from './budget-answer.ts';
import type { Budget, BudgetStanding, Burn } from './budgets.ts';
import { knownBudgetNotices, markBudgetNotice, readState, writeState } from './store.ts';

/** The state of a budget, its news, and the memory to store. */
export interface BudgetUpdate {
  readonly standing: BudgetStanding;
  readonly memory: BudgetMemory;
  readonly news: readonly BudgetNews[];
  readonly today: Day;
}

/** The news of each budget since the notices that are stored. */
export async function evaluateBudgets(
  reader: StoreReader,
  standings: readonly BudgetStanding[],
  today: Day,
): Promise<readonly BudgetUpdate[]> {
  const all: BudgetUpdate[] = [];
  for (const standing of standings) {
    const { budget } = standing;
    const text = await readState(reader, keyOf(budget));
    const remembered = text === null ? null : StoredMemory.parse(JSON.parse(text));
    const { memory, news } = evaluateBudget(standing, remembered, today);
    const known = await knownBudgetNotices(reader, budget.name, monthOf(today));
    const first = news.filter((one) => !known.has(noticeMark(one, standing)));
    all.push({ standing, today, memory, news: first });
  }
  return all;
}

/** One message per budget, with the notices not sent in this month. */
export function budgetMessages(all: readonly BudgetUpdate[]): readonly Announcement[] {
  return all.flatMap(({ standing, news, today }) => {
    if (news.length === 0) return [];
    const { budget } = standing;
    const marks = news.map((one) => noticeMark(one, standing));
    const id = createHash('sha256').update(JSON.stringify(marks)).digest('hex').slice(0, 16);
    const name = `post/budget-${encodeURIComponent(budget.name)}/${monthOf(today)}-${id}` as const;
    return [{ name, channel: budget.notify, thread: null, answer: budgetAnswer(standing, news) }];
  });
}

/** Stores each update, and which notices were announced. */
export async function storeBudgets(
  tx: StoreTx,
  all: readonly BudgetUpdate[],
  now: Date,
): Promise<void> {
  for (const { standing, memory, news, today } of all) {
    const { budget } = standing;
    await writeState(tx, keyOf(budget), JSON.stringify(memory));
    for (const one of news) {
      const mark = noticeMark(one, standing);
      await markBudgetNotice(tx, { budget: budget.name, month: monthOf(today), mark, at: now });
    }
  }
}

const StoredForecast = z.object({
  lastRun: z.string().nullable(),
  over: z.number(),
  under: z.number(),
  announced: z
    .object({ kind: z.enum(['likely-over', 'almost-certainly-over']), total: z.number() })
    .nullable(),
});
const StoredMemory = z.object({
  month: z.string(),
  amount: z.number(),
  announced: z.number().nullable(),
  forecast: StoredForecast,
});

function keyOf({ name }: Budget): string {
  return `budget ${name}`;
}

type BudgetNews =
  | { readonly kind: 'threshold'; readonly threshold: number }
  | { readonly kind: ForecastAlert | 'cleared'; readonly confidence: 'low' | 'usual' }
  | { readonly kind: 'burn'; readonly burn: Burn };

/** The news about a budget since its last notices, and the memory to store with them. */
export function evaluateBudget(
  { budget, spent, forecast, burn, unread }: BudgetStanding,
  remembered: BudgetMemory | null,
  today: Day,
): Pick<BudgetUpdate, 'memory' | 'news'> {
  const fresh = memoryFor(remembered, monthOf(today), budget.credits);
  // With a part of the report, a budget would look less spent than it is.
  if (unread.length > 0) return { memory: fresh, news: [] };
  const { memory: withThreshold, crossed } = crossThreshold(fresh, spent, budget.thresholds);
  const { memory, news: alert, confidence } = evaluateForecast(withThreshold, forecast, today);
  // Forecasts come first, because readers can still act on them.
  const news: BudgetNews[] = [
    ...(alert === null ? [] : [{ kind: alert, confidence }]),
    ...(burn === null ? [] : [{ kind: 'burn', burn } as const]),
    ...(crossed === null ? [] : [{ kind: 'threshold', threshold: crossed } as const]),
  ];
  return { memory, news };
}

/** The stored key of a notice, sent once per month. A new amount makes it a new notice. */
function noticeMark(news: BudgetNews, { forecast, budget }: BudgetStanding): string {
  const of = `of ${budget.credits}`;
  if (news.kind === 'threshold') return `${news.threshold} % ${of}`;
  if (news.kind === 'burn') return `${news.burn.kind} burn ${of}`;
  // The stored memory decides whether a forecast is repeated. Its size makes it a new notice.
  const size = forecast.ok ? Math.round(forecast.total) : 0;
  return `${news.kind} ${size} ${of}`;
}

/** The notices of a budget so far. A new month or a new amount resets it. */
export interface BudgetMemory {
  /** `2026-11` */
  readonly month: string;
  readonly amount: number;
  /** The highest announced threshold, in percent. */
  readonly announced: number | null;
  readonly forecast: ForecastMemory;
}

interface ForecastMemory {
  /** The last day with an evaluated forecast; each day counts once. */
  readonly lastRun: Day | null;
  readonly over: number;
  readonly under: number;
  readonly announced: { readonly kind: ForecastAlert; readonly total: number } | null;
}

type ForecastAlert = 'likely-over' | 'almost-certainly-over';

const NO_FORECAST: ForecastMemory = { lastRun: null, over: 0, under: 0, announced: null };

/** The memory for that month; a new one for a new month or a changed amount. */
export function memoryFor(
  memory: BudgetMemory | null,
  month: string,
  amount: number,
): BudgetMemory {
  const holds = memory !== null && memory.month === month && memory.amount === amount;
  return holds ? memory : { month, amount, announced: null, forecast: NO_FORECAST };
}

interface ThresholdStep {
  readonly memory: BudgetMemory;
  /** The highest threshold crossed since the last announcement, if any. */
  readonly crossed: number | null;
}

/**
 * Announces each threshold once per month, and only the highest of several. `spent`, in credits,
 * includes days that are not final; `thresholds` are percents of the amount.
 */
export function crossThreshold(
  memory: BudgetMemory,
  spent: number,
  thresholds: readonly number[],
): ThresholdStep {
  const reached = thresholds.filter((threshold) => spent >= (threshold / 100) * memory.amount);
  const crossed = reached.length > 0 ? Math.max(...reached) : null;
  if (memory.amount <= 0 || crossed === null || crossed <= (memory.announced ?? 0)) {
    return { memory, crossed: null };
  }
  return { memory: { ...memory, announced: crossed }, crossed };
}

interface ForecastStep {
  readonly memory: BudgetMemory;
  readonly news: ForecastAlert | 'cleared' | null;
  /** Low in the first days of a month: the forecast uses the days before it. */
  readonly confidence: 'low' | 'usual';
}

const OVER = 1.05;
const CLEAR = 0.98;
const RUNS = 2;
const RATCHET = 0.05;
const UNSURE_DAYS = 3;

/**
 * Likely over: total > 1.05 · amount in two consecutive runs. Almost certainly over: the lower bound
 * of the 80% interval > amount. Announced again only if it becomes almost certain, or if the
 * forecast grew by 5% of the amount. Cleared: total < 0.98 · amount in two consecutive runs,
 * announced only after an alert. One run per day counts. Source: docs/costs.md#budgets.
 */
export function evaluateForecast(
  memory: BudgetMemory,
  forecast: Forecast,
  today: Day,
): ForecastStep {
  const confidence = isEarly(memory.month, today) ? 'low' : 'usual';
  const before = memory.forecast;
  const isCounted = before.lastRun !== null && today <= before.lastRun;
  if (!forecast.ok || memory.amount <= 0 || isCounted) return { memory, news: null, confidence };

  const { total, low } = forecast;
  const counted: ForecastMemory = {
    lastRun: today,
    over: total > OVER * memory.amount ? before.over + 1 : 0,
    under: total < CLEAR * memory.amount ? before.under + 1 : 0,
    announced: before.announced,
  };
  const kind = kindOf(counted, low, memory.amount);
  const { news, announced } = newsOf(counted, kind, total, memory.amount);
  return { memory: { ...memory, forecast: { ...counted, announced } }, news, confidence };
}

function isEarly(month: string, today: Day): boolean {
  return dayNumber(today) - dayNumber(`${month}-01`) < UNSURE_DAYS;
}

function kindOf({ over }: ForecastMemory, low: number, amount: number): ForecastAlert | null {
  if (low > amount) return 'almost-certainly-over';
  return over >= RUNS ? 'likely-over' : null;
}

function newsOf(
  { announced, under }: ForecastMemory,
  kind: ForecastAlert | null,
  total: number,
  amount: number,
): { news: ForecastStep['news']; announced: ForecastMemory['announced'] } {
  if (announced && under >= RUNS) return { news: 'cleared', announced: null };
  if (kind === null) return { news: null, announced };
  const isMoreSevere = kind === 'almost-certainly-over' && announced?.kind === 'likely-over';
  const hasGrown = announced === null || total - announced.total >= RATCHET * amount;
  return isMoreSevere || hasGrown
    ? { news: kind, announced: { kind, total } }
    : { news: null, announced };
}

const EARLY = 'Early in the month: this forecast uses the previous month.';

/** One message for all news about one budget. */
export function budgetAnswer(standing: BudgetStanding, news: readonly BudgetNews[]): Answer {
  const [title = '', ...others] = news.map((one) => titleOf(one, standing));
  const isEarly = news.some((one) => 'confidence' in one && one.confidence === 'low');
  const lockAge = standing.preliminary > 0 ? lockAgeText(standing.lockAge) : null;
  const inCredits = ['UTC month, in credits', ...(lockAge === null ? [] : [lockAge])];
  const parts: readonly AnswerPart[] = [
    ...others.map((text): AnswerPart => ({ kind: 'text', text })),
    { kind: 'facts', facts: budgetFacts(standing) },
    ...(isEarly ? [{ kind: 'note', text: EARLY } as const] : []),
    { kind: 'note', text: `${inCredits.join(' · ')}. A budget does not limit usage.` },
  ];
  return { title, parts };
}

function titleOf(news: BudgetNews, standing: BudgetStanding): string {
  return `Budget "${standing.budget.name}": ${newsText(news, standing)}`;
}

function newsText(news: BudgetNews, standing: BudgetStanding): string {
  const heading = headingText(standing) ?? 'no forecast';
  switch (news.kind) {
    case 'threshold':
      return `past ${news.threshold}% (${shareText(standing.share)} spent)`;
    case 'likely-over':
      return `likely over, ${heading}`;
    case 'almost-certainly-over':
      return `almost certainly over, ${heading}`;
    case 'cleared':
      return `within budget again, ${heading}`;
    case 'burn':
      return burnTitle(news.burn);
  }
}

/** `burn rate 2.4 times the plan on the last settled day` */
function burnTitle({ kind, rates: [one, , seven] }: Burn): string {
  return kind === 'fast'
    ? `burn rate ${rate(one)} on the last settled day`
    : `burn rate ${rate(seven)} in 7 days`;
}
