import type { Day } from '../calendar/day.ts';
import type { Forecast } from '../forecast/forecast.ts';

/** Percent of the amount; a budget may name its own. */
export const THRESHOLDS: readonly BudgetThreshold[] = [50, 75, 90, 100];
export type BudgetThreshold = number;

/** What a budget has told already. Another month, or another amount, starts it anew. */
export interface BudgetMemory {
  readonly month: string;
  readonly amount: number;
  readonly told: BudgetThreshold | null;
  readonly forecast: ForecastMemory;
}

interface ForecastMemory {
  /** The last day on which a forecast was weighed: a second look that day is none. */
  readonly lastRun: Day | null;
  readonly over: number;
  readonly under: number;
  readonly told: { readonly kind: ForecastAlert; readonly total: number } | null;
}

export type ForecastAlert = 'likely-over' | 'almost-certainly-over';

const NO_FORECAST: ForecastMemory = { lastRun: null, over: 0, under: 0, told: null };
const OVER = 1.05;
const CLEAR = 0.98;
const RUNS = 2;
const RATCHET = 0.05;
const UNSURE_DAYS = 3;

/** The memory for that day: as it was, or a fresh one for a new month or an edited amount. */
export function memoryFor(memory: BudgetMemory | null, day: Day, amount: number): BudgetMemory {
  const month = day.slice(0, 7);
  const holds = memory !== null && memory.month === month && memory.amount === amount;
  return holds ? memory : { month, amount, told: null, forecast: NO_FORECAST };
}

export interface ThresholdStep {
  readonly memory: BudgetMemory;
  /** The highest threshold crossed since last told, if any. */
  readonly crossed: BudgetThreshold | null;
}

/**
 * Each threshold is told once a month, and of several at once the highest. `spent` in credits includes days that are not final: they are spent, if not to the last digit.
 */
export function crossThreshold(
  memory: BudgetMemory,
  spent: number,
  thresholds: readonly BudgetThreshold[] = THRESHOLDS,
): ThresholdStep {
  const reached = thresholds.filter((threshold) => spent >= (threshold / 100) * memory.amount);
  const crossed = reached.length > 0 ? Math.max(...reached) : null;
  if (memory.amount <= 0 || crossed === null || crossed <= (memory.told ?? 0)) {
    return { memory, crossed: null };
  }
  return { memory: { ...memory, told: crossed }, crossed };
}

export interface ForecastStep {
  readonly memory: BudgetMemory;
  readonly news: ForecastAlert | 'cleared' | null;
  /** Within the first three days of a month the forecast rests on the month before. */
  readonly confidence: 'low' | 'usual';
}

/**
 * Likely over: total > 1.05 · amount in two runs on end. Almost certainly over: the lower bound of
 * the 80% interval > amount. Told again only as the graver of the two, or when the forecast grew
 * by 5% of the amount since last told. Cleared: total < 0.98 · amount in two runs on end, told
 * only after an alert. One run a day counts. Source: docs/costs.md#budgets.
 */
export function weighForecast(memory: BudgetMemory, forecast: Forecast, today: Day): ForecastStep {
  const confidence = Number(today.slice(8)) <= UNSURE_DAYS ? 'low' : 'usual';
  const before = memory.forecast;
  const isCounted = before.lastRun !== null && today <= before.lastRun;
  if (!forecast.ok || memory.amount <= 0 || isCounted) return { memory, news: null, confidence };

  const { total, low } = forecast;
  const counted: ForecastMemory = {
    lastRun: today,
    over: total > OVER * memory.amount ? before.over + 1 : 0,
    under: total < CLEAR * memory.amount ? before.under + 1 : 0,
    told: before.told,
  };
  const kind = kindOf(counted, low, memory.amount);
  const { news, told } = newsOf(counted, kind, total, memory.amount);
  return { memory: { ...memory, forecast: { ...counted, told } }, news, confidence };
}

function kindOf({ over }: ForecastMemory, low: number, amount: number): ForecastAlert | null {
  if (low > amount) return 'almost-certainly-over';
  return over >= RUNS ? 'likely-over' : null;
}

function newsOf(
  { told, under }: ForecastMemory,
  kind: ForecastAlert | null,
  total: number,
  amount: number,
): { news: ForecastStep['news']; told: ForecastMemory['told'] } {
  if (told && under >= RUNS) return { news: 'cleared', told: null };
  if (kind === null) return { news: null, told };
  const isGraver = kind === 'almost-certainly-over' && told?.kind === 'likely-over';
  const hasGrown = told === null || total - told.total >= RATCHET * amount;
  return isGraver || hasGrown ? { news: kind, told: { kind, total } } : { news: null, told };
}
