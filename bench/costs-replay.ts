import { pino } from 'pino';
import { monthSpan } from '../src/base/calendar.ts';
import { addDays, type Day, dayNumber, dayOf, daysBetween } from '../src/base/time.ts';
import { type BudgetMemory, type BudgetNews, evaluateBudget } from '../src/costs/budget-notices.ts';
import { budgetStanding } from '../src/costs/budgets.ts';
import { createCostReader } from '../src/costs/reader.ts';
import { type Judgement, judgeCosts, modelSpan } from '../src/costs/unusual.ts';
import type { Log } from '../src/log/index.ts';
import type { Forecast } from '../src/maths/forecast.ts';
import type { ReportRow } from '../src/maths/report.ts';
import type { CloudClient } from '../src/servers/cloud.ts';
import { openBenchLog } from './costs-store.ts';
import { type Kind, totalOf, type World, world } from './costs-worlds.ts';

// One month, morning by morning, through the reader, the budgets and the judgement of the product.

export interface Morning {
  readonly day: Day;
  readonly forecast: Forecast;
  readonly judged: Judgement;
  readonly news: BudgetNews | null;
}

/** A month with its true total. */
export interface Sample {
  readonly world: World;
  readonly total: number;
  readonly mornings: readonly Morning[];
}

export async function samplesOf(
  kind: Kind,
  months: number,
  seed: number,
): Promise<readonly Sample[]> {
  const samples: Sample[] = [];
  for (let index = 0; index < months; index += 1) {
    const one = world(kind, seed + index);
    const { first, last } = monthSpan(one.month);
    const total = totalOf(one.services, daysBetween(first, last));
    samples.push({ world: one, total, mornings: await replay(one) });
  }
  return samples;
}

const HOUR_MS = 3_600_000;
const ORGANIZATION = 'bench';
const log = pino({ level: 'silent' });

/** All mornings of the month on which Signalbox runs, and the first of the next one. */
async function replay(world: World): Promise<readonly Morning[]> {
  const clock = { now: new Date(0) };
  const events = await openBenchLog(() => clock.now);
  try {
    return await replayWith(world, clock, events);
  } finally {
    await events.store.close();
  }
}

async function replayWith(
  world: World,
  clock: { now: Date },
  events: Log,
): Promise<readonly Morning[]> {
  const { first, last } = monthSpan(world.month);
  const cloud = { getUsageCost: usageCost(world, clock) } as unknown as CloudClient;
  const read = createCostReader({
    cloud,
    organizationId: ORGANIZATION,
    store: events.store,
    events,
    now: () => clock.now,
    log,
  });
  const mornings: Morning[] = [];
  let memory: BudgetMemory | null = null;
  const budget = {
    name: 'all',
    credits: world.budget,
    on: null,
    notify: '#costs',
    thresholds: [100],
  };
  for (const day of daysBetween(world.installed, last)) {
    if (world.isPaused(day)) continue;
    const minutes = (dayNumber(day) * 7) % 20;
    clock.now = new Date(dayNumber(day) * 24 * HOUR_MS + 7 * HOUR_MS + minutes * 60_000);
    const span = modelSpan(day);
    const reading = await read(span, { priority: 'background' });
    if (day < first) continue;
    const known = { ...reading, changes: world.changes.filter((one) => one.day < day) };
    const standing = budgetStanding(budget, { read: known, services: [], today: day });
    const { news, memory: next } = evaluateBudget(standing, memory, day);
    memory = next;
    const judged = judgeCosts({ read: known, today: day });
    mornings.push({ day, forecast: standing.forecast, judged, news });
  }
  return mornings;
}

function usageCost(world: World, clock: { readonly now: Date }): CloudClient['getUsageCost'] {
  return async (period) => {
    const { from_date: from = '', to_date: to = '' } = period as Record<string, string>;
    const rows = rowsAt(world, clock.now, daysBetween(from.slice(0, 10), to.slice(0, 10)));
    const grandTotalCredits = rows.reduce((sum, { totalCredits }) => sum + (totalCredits ?? 0), 0);
    // The reader uses nothing else of a reply.
    return { result: { grandTotalCredits, costs: rows } } as never;
  };
}

/** What the report shows at an instant. */
function rowsAt(world: World, now: Date, days: readonly Day[]): readonly ReportRow[] {
  const today = dayOf(now);
  const part = (now.getTime() / HOUR_MS / 24) % 1;
  return days.flatMap((day) => {
    const age = dayNumber(today) - dayNumber(day);
    if (age < 0 || today < (world.rowsCome.get(day) ?? '')) return [];
    const locked = age >= world.lockAge;
    const share = locked ? 1 : age === 0 ? part * 0.5 : world.shareAt(day, age + part);
    return world.services.flatMap(({ id, name, costs }) => {
      const cost = costs.get(day);
      if (cost === undefined || (cost === 0 && costs.get(addDays(day, -1)) === 0)) return [];
      const credits = Math.round(cost * share * 100) / 100;
      return [
        {
          date: day,
          entityId: id,
          entityName: name,
          entityType: 'service',
          serviceId: id,
          dataWarehouseId: 'w',
          metrics: { computeCredits: credits },
          totalCredits: credits,
          locked,
        },
      ];
    });
  });
}
