import { expect, test } from 'vitest';
import { evaluateBudgets, recordBudgetNotices } from '../../src/budgets/budget-notices.ts';
import { listBudgets } from '../../src/budgets/budget-queries.ts';
import { budgetAnswer, budgetFacts, budgetSummary } from '../../src/budgets/budget-text.ts';
import {
  type Budget,
  type BudgetStanding,
  budgetSpan,
  evaluateBudget,
  readBudgetStandings,
} from '../../src/budgets/budgets.ts';
import { type Span, within } from '../../src/costs/calendar/calendar.ts';
import { addDays, type Day, daysBetween } from '../../src/costs/calendar/day.ts';
import type { CostGap, CostReading } from '../../src/costs/ledger/costs-read.ts';
import { type PriceList, withPrices } from '../../src/costs/money/price.ts';
import { written } from '../cost-reports/written.ts';
import { row } from '../costs/rows.ts';
import { freshDatabase } from '../storage/engines.ts';

const TODAY = '2026-11-20';
const FIRST = '2025-06-01';

/** 100 credits per day; the last two days before today, and today, are not final. */
const rowsUntil = (today: Day) =>
  daysBetween(FIRST, today).map((day) => row({ day, locked: day < addDays(today, -2) }));

interface Report {
  readonly today?: Day;
  readonly prices?: PriceList;
  readonly gaps?: readonly CostGap[];
}

function reportOf({ today = TODAY, prices, gaps = [] }: Report) {
  const rows = withPrices(rowsUntil(today), prices ?? null);
  const spans: Span[] = [];
  const costs = async (span: Span): Promise<CostReading> => {
    spans.push(span);
    const read = { fetchedAt: null, problems: [], lockAge: null };
    const own = gaps.filter(({ month }) => month >= span.first.slice(0, 7));
    return { ...read, rows: within(rows, span), gaps: own, ...(prices ? { prices } : {}) };
  };
  return { costs, spans };
}

function commitment(more: Partial<Budget> = {}): Budget {
  const own = { name: 'contract', credits: 30_000, start: '2026-03-01', on: null };
  return { ...own, notify: '#c', thresholds: [50, 80, 100], ...more };
}

async function standingOf(
  more: Partial<Budget> = {},
  report: Report = {},
): Promise<BudgetStanding> {
  const { today = TODAY } = report;
  const { costs } = reportOf(report);
  const sources = { budgets: [commitment(more)], costs, services: [], today };
  const [standing] = await readBudgetStandings(sources, await costs(budgetSpan(today)));
  return standing ?? expect.fail('there is no standing');
}

async function factsOf(more: Partial<Budget> = {}, report: Report = {}): Promise<string> {
  const facts = budgetFacts(await standingOf(more, report));
  return facts.map(([label, text]) => `${label}: ${text}`).join('\n');
}

test('the burn of a commitment: share used, share elapsed, burn rate and expected end', async () => {
  expect(await factsOf()).toMatchInlineSnapshot(`
    "Spent: ███████░ 88% · 26,500 of 30,000, 300 of it not final
    Elapsed: 72% · 264 of 365 days of 1 Mar 2026 – 28 Feb 2027
    Burn rate: 100.0 per day in the last 14 settled days; 36.9 per day would last for the year
    Forecast: 36,500 (36,294–36,706) if usage does not change
    Expected end: about 25 Dec 2026, 65 days early (25–26 Dec 2026)"
  `);
});

test('a commitment that lasts for the year', async () => {
  expect(await factsOf({ credits: 40_000 })).toMatchInlineSnapshot(`
    "Spent: █████░░░ 66% · 26,500 of 40,000, 300 of it not final
    Elapsed: 72% · 264 of 365 days of 1 Mar 2026 – 28 Feb 2027
    Burn rate: 100.0 per day in the last 14 settled days; 134.0 per day would last for the year
    Forecast: 36,500 (36,294–36,706) if usage does not change
    Expected end: lasts until 28 Feb 2027, about 3,500 credits left"
  `);
});

test('a commitment that is used up already', async () => {
  expect(await factsOf({ credits: 20_000 })).toMatchInlineSnapshot(`
    "Spent: ████████ 133% · 26,500 of 20,000, 300 of it not final
    Elapsed: 72% · 264 of 365 days of 1 Mar 2026 – 28 Feb 2027
    Burn rate: 100.0 per day in the last 14 settled days
    Forecast: 36,500 (36,294–36,706) if usage does not change
    Expected end: used up on 16 Sep 2026, 165 days early"
  `);
});

test('a commitment that begins later', async () => {
  expect(await factsOf({ start: '2027-01-01' })).toMatchInlineSnapshot(`
    "Spent: ░░░░░░░░ 0% · 0 of 30,000
    Year: 2027, not begun yet
    Forecast: 36,500 (35,770–37,230) if usage does not change"
  `);
  const standing = await standingOf({ start: '2027-01-01' });
  expect(standing).toMatchObject({ spent: 0, share: 0 });
  expect(evaluateBudget(standing, null, TODAY).news).toEqual([]);
});

test('a commitment that began on 29 February', async () => {
  const more = { start: '2024-02-29', credits: 40_000 };
  expect(await factsOf(more)).toContain(' of 365 days of 28 Feb 2026 – 27 Feb 2027');
  const leap = await standingOf(more, { today: '2027-03-01' });
  expect(leap.period).toEqual({ first: '2027-02-28', last: '2028-02-28' });
  expect(leap.commitment?.days).toBe(366);
});

test('with a price each figure of a commitment has money beside it', async () => {
  const prices = [{ from: '2025-01-01', currency: 'EUR', perCredit: 350_000 }];
  expect(await factsOf({}, { prices })).toMatchInlineSnapshot(`
    "Spent: ███████░ 88% · 26,500 of 30,000 (€9,275 of €10,500), 300 (€105) of it not final
    Elapsed: 72% · 264 of 365 days of 1 Mar 2026 – 28 Feb 2027
    Burn rate: 100.0 per day (€35.00) in the last 14 settled days; 36.9 per day (€12.91) would last for the year
    Forecast: 36,500 (36,294–36,706) if usage does not change · €12,775 (€12,703–€12,847)
    Expected end: about 25 Dec 2026, 65 days early (25–26 Dec 2026)"
  `);
});

test('with a price the credits that are left have the price of the last day', async () => {
  const prices = [
    { from: '2025-01-01', currency: 'EUR', perCredit: 350_000 },
    { from: '2027-02-28', currency: 'EUR', perCredit: 400_000 },
  ];
  expect(await factsOf({ credits: 40_000 }, { prices })).toContain(
    'lasts until 28 Feb 2027, about 3,500 credits (€1,400) left',
  );
});

test('with a price a budget of a month has money as well, each day at its own price', async () => {
  const prices = [
    { from: '2025-01-01', currency: 'EUR', perCredit: 300_000 },
    { from: '2026-11-16', currency: 'EUR', perCredit: 400_000 },
  ];
  const facts = await factsOf({ start: null, credits: 3_000 }, { prices });
  // 15 days of 30 and 5 days of 40; the amount of 15 days each.
  expect(facts).toContain('67% · 2,000 of 3,000 (€650 of €1,050), 300 (€120) of it not final');
  expect(facts).toContain('Plan: 1,700 spent through Tue 17 Nov, 1,700 planned (€530 of €530)');
  expect(facts).toContain('3,000 (2,974–3,026) if usage does not change · €1,050 (€1,040–€1,060)');
});

test('a commitment in a digest', async () => {
  const { state, text, bar } = budgetSummary(await standingOf());
  expect(state).toBe('over');
  expect(text).toMatchInlineSnapshot(
    `"heading for 36,500 of 30,000 (+22%), used up about 25 Dec 2026, 65 days early"`,
  );
  expect(bar).toMatchInlineSnapshot(
    `"███████░ 88% used, 72% of the year elapsed · heading for 36,500 of 30,000 (+22%), used up about 25 Dec 2026, 65 days early"`,
  );
  expect(budgetSummary(await standingOf({ credits: 40_000 })).state).toBe('within');
});

const GAP = { month: '2026-04', why: 'Too many requests', denied: false, from: null };

test('with a month that cannot be read, a commitment claims and notifies nothing', async () => {
  const standing = await standingOf({ credits: 40_000 }, { gaps: [GAP] });
  expect(budgetSummary(standing).state).toBe('unknown');
  const facts = budgetFacts(standing);
  expect(facts.at(-1)).toEqual(['Not read', '2026-04: not in these figures']);
  const over = await standingOf({ credits: 100 }, { gaps: [GAP] });
  expect(evaluateBudget(over, null, TODAY).news).toEqual([]);
  // The same without the gap.
  expect(evaluateBudget(await standingOf({ credits: 100 }), null, TODAY).news).not.toEqual([]);
});

test('budgets of months share one report, and each commitment reads its year', async () => {
  const { costs, spans } = reportOf({});
  const month = { ...commitment(), name: 'month', start: null, credits: 3_000 };
  const context = {
    budgets: [month, commitment(), { ...month, name: 'another' }],
    costs,
    services: () => [],
    now: () => new Date(`${TODAY}T12:00:00Z`),
  };
  const answer = written(await listBudgets(context));
  expect(answer).toContain(
    '\n⚠ contract: heading for 36,500 of 30,000 (+22%), used up about 25 Dec 2026, ',
  );
  expect(answer).toContain('\nmonth: heading for 3,000 of 3,000 (±0%)\nSpent: ');
  expect(spans.map(({ first }) => first)).toEqual(['2026-09-11', '2026-03-01']);
});

test('a notice of a commitment names both shares and the year', async () => {
  const standing = await standingOf({ credits: 30_000 });
  const { news } = evaluateBudget(standing, null, TODAY);
  expect(written(budgetAnswer(standing, news))).toMatchInlineSnapshot(`
    "Budget "contract": almost certainly over, heading for 36,500 of 30,000 (+22%), used up about 25 Dec 2026, 65 days early
    Budget "contract": past 80% (88% spent, 72% of the year elapsed)
    Spent: ███████░ 88% · 26,500 of 30,000, 300 of it not final
    Elapsed: 72% · 264 of 365 days of 1 Mar 2026 – 28 Feb 2027
    Burn rate: 100.0 per day in the last 14 settled days; 36.9 per day would last for the year
    Forecast: 36,500 (36,294–36,706) if usage does not change
    Expected end: about 25 Dec 2026, 65 days early (25–26 Dec 2026)
    UTC days of 1 Mar 2026 – 28 Feb 2027, in credits. A budget does not limit usage."
  `);
});

test('each threshold of a commitment is reported once per year', async () => {
  const { db, transaction } = await freshDatabase('sqlite');
  const reported: string[] = [];
  // 12,500 credits per year: half of them on the 63rd day, 80% on the 100th, all on the 125th.
  for (let day = '2026-03-01'; day <= '2027-06-30'; day = addDays(day, 7)) {
    const standing = await standingOf({ credits: 12_500 }, { today: day });
    const updates = await evaluateBudgets(db, [standing], day);
    for (const { news } of updates) {
      for (const one of news) {
        if (one.kind === 'threshold') reported.push(`${day} ${one.threshold}`);
      }
    }
    await transaction((tx) => recordBudgetNotices(tx, updates, new Date(`${day}T12:00:00Z`)));
  }
  expect(reported).toEqual([
    '2026-05-03 50',
    '2026-06-14 80',
    '2026-07-05 100',
    '2027-05-02 50',
    '2027-06-13 80',
  ]);
  const rows = await db.selectFrom('budget_notice').select('month').distinct().execute();
  expect(rows.map(({ month }) => month).sort()).toEqual(['2026-03-01', '2027-03-01']);
});
