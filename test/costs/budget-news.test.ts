import { expect, test } from 'vitest';
import { addDays } from '../../src/base/time.ts';
import { listBudgets } from '../../src/costs/budget-answer.ts';
import {
  type BudgetMemory,
  budgetMessages,
  evaluateBudget,
  evaluateBudgets,
  storeBudgets,
} from '../../src/costs/budget-notices.ts';
import { type Budget, budgetStanding } from '../../src/costs/budgets.ts';
import { transaction } from '../../src/storage/index.ts';
import { row, TODAY } from '../maths/rows.ts';
import { freshStore } from '../storage/stores.ts';
import { nineWeeks, readingOf } from './facts.ts';
import { written } from './written.ts';

const BUDGET: Budget = {
  name: 'production',
  credits: 9_000,
  on: null,
  notify: '#costs',
  thresholds: [50, 80, 100],
};

/** The news of each morning of November, with costs that change by a factor from a day on. */
function newsOf(
  credits: number,
  factor: (day: string) => number = () => 1,
  mornings = { first: 5, last: 30 },
): readonly string[] {
  let memory: BudgetMemory | null = null;
  const news: string[] = [];
  for (let date = mornings.first; date <= mornings.last; date += 1) {
    const today = `2026-11-${String(date).padStart(2, '0')}`;
    const read = readingOf(nineWeeks(today, 1, factor));
    const standing = budgetStanding({ ...BUDGET, credits }, { read, services: [], today });
    const update = evaluateBudget(standing, memory, today);
    memory = update.memory;
    if (update.news) {
      const what = 'threshold' in update.news ? update.news.threshold : update.news.kind;
      news.push(`${date} ${what}`);
    }
  }
  return news;
}

test('a month within its budget has only its thresholds', () => {
  expect(newsOf(4_200)).toEqual(['19 50', '29 80']);
});

test('an overrun is likely first, then almost certain, then a fact, each once', () => {
  const kinds = newsOf(3_400).map((one) => one.replace(/^\d+ /, ''));
  expect(kinds.filter((kind) => /[a-z]/.test(kind))).toEqual(['likely', 'almost', 'over']);
  expect(kinds.at(-1)).toBe('over');
});

test('a backfill of three days is neither likely nor almost certainly over', () => {
  const backfill = (day: string) => (day >= '2026-11-09' && day <= '2026-11-11' ? 4 : 1);
  const news = newsOf(5_500, backfill).filter((one) => /likely|almost|over/.test(one));
  expect(news).toEqual([]);
});

test('a step is announced within a week', () => {
  const step = (day: string) => (day >= '2026-11-08' ? 1.7 : 1);
  const [first = ''] = newsOf(4_500, step).filter((one) => /likely|almost/.test(one));
  expect(Number(first.split(' ')[0])).toBeLessThanOrEqual(15);
});

test('what costs less than expected later is cleared', () => {
  const step = (day: string) => (day >= '2026-11-15' ? 0.3 : 1);
  const kinds = newsOf(3_450, step).map((one) => one.replace(/^\d+ /, ''));
  expect(kinds).toContain('cleared');
  expect(kinds.indexOf('cleared')).toBeGreaterThan(kinds.indexOf('likely'));
});

test('one message a day, and nothing without all figures', () => {
  const read = readingOf(nineWeeks());
  const standing = budgetStanding(
    { ...BUDGET, credits: 1_000 },
    { read, services: [], today: TODAY },
  );
  const first = evaluateBudget(standing, null, TODAY);
  expect(first.news).toEqual({ kind: 'over' });
  const raised = { ...standing, budget: { ...standing.budget, thresholds: [50, 100, 150] } };
  expect(evaluateBudget(raised, first.memory, TODAY).news).toBeNull();
  expect(evaluateBudget(raised, first.memory, addDays(TODAY, 1)).news).toEqual({
    kind: 'threshold',
    threshold: 150,
  });
  const lost = { name: 'without-figures', day: TODAY, count: 1 } as const;
  const broken = readingOf(nineWeeks(), { problems: [lost] });
  const unknown = budgetStanding(BUDGET, { read: broken, services: [], today: TODAY });
  expect(evaluateBudget(unknown, null, TODAY).news).toBeNull();
});

test.for<[string, boolean, readonly string[]]>([
  [
    'a channel without a digest gets the message',
    false,
    ['#costs Budget production: November over: 2,347 of 1,000 spent (+135%)'],
  ],
  ['the digest of the channel tells it', true, []],
])('%s', async ([, isInDigest, expected]) => {
  const store = await freshStore('sqlite');
  const read = readingOf(nineWeeks());
  const standing = budgetStanding(
    { ...BUDGET, credits: 1_000 },
    { read, services: [], today: TODAY },
  );
  const post = async () => {
    const updates = await evaluateBudgets(store.root, [standing], TODAY);
    await transaction(store, (tx) => storeBudgets(tx, updates));
    return budgetMessages(updates, () => isInDigest).map(
      ({ channel, answer }) => `${channel} ${answer.title}`,
    );
  };
  expect(await post()).toEqual(expected);
  expect(await post()).toEqual([]);
});

test('the answer has each figure once, the fact before any forecast', async () => {
  const budgets = [BUDGET, { ...BUDGET, name: 'small', credits: 1_000 }];
  const read = readingOf(nineWeeks());
  const now = () => new Date(`${TODAY}T08:00:00Z`);
  const answer = await listBudgets({ budgets, costs: async () => read, services: () => [], now });
  expect(written(answer)).toMatchInlineSnapshot(`
    "Budgets · 1–20 Nov (UTC): 1 of 2 over or heading over
    production: within
    Spent: 26% · 2,347 of 9,000
    Forecast: heading for 3,619 credits (3,609–3,629)
    ⚠ small: over
    Spent: 235% · 2,347 of 1,000
    Forecast: heading for 3,619 credits (3,609–3,629)
    As of 2026-11-20 08:00 UTC"
  `);
});

test('without budgets the answer says where they are defined', async () => {
  const read = readingOf([row()]);
  const given = { costs: async () => read, services: () => [], now: () => new Date() };
  expect(written(await listBudgets({ budgets: [], ...given }))).toContain('signalbox.yaml');
});
