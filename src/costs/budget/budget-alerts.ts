import { type Day, dayNumber } from '../../base/time.ts';
import type { Forecast } from '../../maths/forecast.ts';

/** Default thresholds, in percent of the amount. */
const THRESHOLDS: readonly BudgetThreshold[] = [50, 75, 90, 100];
export type BudgetThreshold = number;

/** The notices of a budget so far. A new month or a new amount resets it. */
export interface BudgetMemory {
  /** `2026-11` */
  readonly month: string;
  readonly amount: number;
  readonly announced: BudgetThreshold | null;
  readonly forecast: ForecastMemory;
}

interface ForecastMemory {
  /** The last day with an evaluated forecast; each day counts once. */
  readonly lastRun: Day | null;
  readonly over: number;
  readonly under: number;
  readonly announced: { readonly kind: ForecastAlert; readonly total: number } | null;
}

export type ForecastAlert = 'likely-over' | 'almost-certainly-over';

const NO_FORECAST: ForecastMemory = { lastRun: null, over: 0, under: 0, announced: null };
const OVER = 1.05;
const CLEAR = 0.98;
const RUNS = 2;
const RATCHET = 0.05;
const UNSURE_DAYS = 3;

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
  readonly crossed: BudgetThreshold | null;
}

/**
 * Announces each threshold once per month, and only the highest of several. `spent`, in credits,
 * includes days that are not final.
 */
export function crossThreshold(
  memory: BudgetMemory,
  spent: number,
  thresholds: readonly BudgetThreshold[] = THRESHOLDS,
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
