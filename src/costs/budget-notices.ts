/** What is new about a budget, and the messages about it: one a day, and each step once. */
import { z } from 'zod';
import { monthOf } from '../base/calendar.ts';
import type { Day } from '../base/time.ts';
import type { Answer } from '../domain/answer.ts';
import { cautiousTotal, chanceAbove } from '../maths/forecast.ts';
import { shareText } from '../maths/numbers.ts';
import type { StoreReader, StoreTx } from '../storage/index.ts';
import type { Announcement } from './announcements.ts';
import { budgetFacts, headingText } from './budget-answer.ts';
import type { Budget, BudgetStanding } from './budgets.ts';
import { readState, writeState } from './store.ts';

/** The state of a budget, its news, and the memory to store. */
export interface BudgetUpdate {
  readonly standing: BudgetStanding;
  readonly memory: BudgetMemory;
  readonly news: BudgetNews | null;
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
    const text = await readState(reader, keyOf(standing.budget));
    const stored = text === null ? null : StoredMemory.safeParse(JSON.parse(text));
    const remembered = stored?.success ? stored.data : null;
    all.push({ standing, today, ...evaluateBudget(standing, remembered, today) });
  }
  return all;
}

/** One message per budget with news and day, unless a digest of its channel shows the budget today. */
export function budgetMessages(
  all: readonly BudgetUpdate[],
  isInDigest: (budget: Budget) => boolean,
): readonly Announcement[] {
  return all.flatMap(({ standing, news, today }) => {
    const { budget } = standing;
    if (news === null || isInDigest(budget)) return [];
    const id = `${encodeURIComponent(budget.name)}/${today}-${budget.credits}`;
    const answer = budgetAnswer(standing, news);
    return [{ name: `post/budget-${id}` as const, channel: budget.notify, answer }];
  });
}

export async function storeBudgets(tx: StoreTx, all: readonly BudgetUpdate[]): Promise<void> {
  for (const { standing, memory } of all) {
    await writeState(tx, keyOf(standing.budget), JSON.stringify(memory));
  }
}

const STEPS = ['within', 'likely', 'almost', 'over'] as const;
type Step = (typeof STEPS)[number];

const StoredMemory = z.object({
  /** `2026-11` */
  month: z.string(),
  amount: z.number(),
  /** The last announced step. */
  step: z.enum(STEPS),
  /** The highest announced threshold, in percent. */
  threshold: z.number(),
  /** The last day with an evaluated forecast; each day counts once. */
  lastRun: z.string().nullable(),
  /** On how many mornings in a row the forecast was so. */
  likely: z.number(),
  almost: z.number(),
  clear: z.number(),
  /** The last day with news: there is one message a day. */
  reportedOn: z.string().nullable(),
});

/** What was announced about a budget. A new month or a new amount resets it. */
export type BudgetMemory = Readonly<z.infer<typeof StoredMemory>>;

function keyOf({ name }: Budget): string {
  return `budget ${name}`;
}

export type BudgetNews =
  | { readonly kind: Exclude<Step, 'within'> | 'cleared' }
  | { readonly kind: 'threshold'; readonly threshold: number };

/** The memory for that month; a new one for a new month or a changed amount. */
function memoryFor(memory: BudgetMemory | null, month: string, amount: number): BudgetMemory {
  if (memory !== null && memory.month === month && memory.amount === amount) return memory;
  const nothing = { threshold: 0, lastRun: null, likely: 0, almost: 0, clear: 0, reportedOn: null };
  return { month, amount, step: 'within', ...nothing };
}

const LIKELY = 0.75;
const ALMOST_CERTAIN = 0.98;
const UNLIKELY = 0.5;
const MORNINGS = 2;

/**
 * Over: the reported credits are above the amount. Likely over: P(total > amount) ≥ 0.75 on two
 * mornings. Almost certainly over: P ≥ 0.98 on two mornings, and still over if the rest of the month
 * costs a quarter less than the lower hypothesis. Cleared: P < 0.5 on two mornings. Nothing about
 * the forecast after *over*, one news a day, and none without all figures.
 * Source: docs/forecasts.md#budgets.
 */
export function evaluateBudget(
  { budget, spent, forecast, missing }: BudgetStanding,
  remembered: BudgetMemory | null,
  today: Day,
): Pick<BudgetUpdate, 'memory' | 'news'> {
  const before = memoryFor(remembered, monthOf(today), budget.credits);
  // With a part of the report, a budget would look less spent than it is.
  if (missing !== null) return { memory: before, news: null };
  const isCounted = before.lastRun !== null && today <= before.lastRun;
  const chance = forecast.ok ? chanceAbove(forecast, budget.credits) : null;
  const isAlmost =
    forecast.ok && (chance ?? 0) >= ALMOST_CERTAIN && cautiousTotal(forecast) > budget.credits;
  const counted: BudgetMemory =
    isCounted || chance === null
      ? before
      : {
          ...before,
          lastRun: today,
          likely: chance >= LIKELY ? before.likely + 1 : 0,
          almost: isAlmost ? before.almost + 1 : 0,
          clear: chance < UNLIKELY ? before.clear + 1 : 0,
        };
  if (before.reportedOn === today) return { memory: counted, news: null };
  const step = stepOf(counted, spent > budget.credits);
  const reached = budget.thresholds.filter((each) => spent >= (each / 100) * budget.credits);
  const threshold = Math.max(0, ...reached);
  const news = newsOf(counted, step, threshold);
  const reportedOn = news === null ? counted.reportedOn : today;
  return { memory: { ...counted, step, threshold, reportedOn }, news };
}

function stepOf({ step, likely, almost, clear }: BudgetMemory, isOver: boolean): Step {
  if (isOver || step === 'over') return 'over';
  if (almost >= MORNINGS) return 'almost';
  if (clear >= MORNINGS) return 'within';
  return likely >= MORNINGS && step === 'within' ? 'likely' : step;
}

function newsOf(before: BudgetMemory, step: Step, threshold: number): BudgetNews | null {
  if (step !== before.step) return { kind: step === 'within' ? 'cleared' : step };
  const isNew = threshold > before.threshold && !(step === 'over' && threshold <= 100);
  return isNew ? { kind: 'threshold', threshold } : null;
}

/** The message about news of a budget. */
function budgetAnswer(standing: BudgetStanding, news: BudgetNews): Answer {
  return {
    title: `Budget ${standing.budget.name}: ${newsText(news, standing)}`,
    parts: [
      { kind: 'facts', facts: budgetFacts(standing) },
      { kind: 'note', text: 'UTC month, in credits. A budget does not limit usage.' },
    ],
  };
}

function newsText(news: BudgetNews, standing: BudgetStanding): string {
  if (news.kind === 'threshold') return `${shareText(standing.share)} spent`;
  const text = stepText(news.kind === 'cleared' ? 'within' : news.kind, standing);
  return news.kind === 'cleared' ? text.replace('within budget', 'within budget again') : text;
}

/** `almost certainly over: November heading for 9,260 of 9,000 (+3%)` */
export function stepText(step: Step, standing: BudgetStanding): string {
  const heading = headingText(standing);
  if (step === 'over') return heading;
  return `${step === 'within' ? 'within budget' : STEP_WORDS[step]}: ${heading}`;
}

export const STEP_WORDS: Readonly<Record<Step, string>> = {
  within: 'within',
  likely: 'likely over',
  almost: 'almost certainly over',
  over: 'over',
};
