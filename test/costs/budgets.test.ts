import { expect, test } from 'vitest';
import { addDays } from '../../src/base/time.ts';
import { budgetFacts, budgetSummary, progressBar } from '../../src/costs/budget-answer.ts';
import {
  budgetAnswer,
  budgetMessages,
  evaluateBudget,
  evaluateBudgets,
  storeBudgets,
} from '../../src/costs/budget-notices.ts';
import {
  type Budget,
  type BudgetInputs,
  budgetSpan,
  budgetStanding,
} from '../../src/costs/budgets.ts';
import { dropState } from '../../src/costs/store.ts';
import type { Service } from '../../src/domain/targets.ts';
import { dayStates } from '../../src/maths/days.ts';
import { withPrices } from '../../src/maths/money.ts';
import { type CostRow, microOf } from '../../src/maths/rows.ts';
import { transaction } from '../../src/storage/index.ts';
import { freshStore } from '../storage/stores.ts';

const TODAY = '2026-11-20';

function service(id: string, tags: readonly string[]): Service {
  const rest = { aliases: [], warehouse: null, pipes: [], lastSeen: null };
  return { id, name: id, tags, team: `of-${id}`, source: 'configuration', ...rest };
}

const services = [service('prod-1', ['prod']), service('dev-1', ['dev'])];

/** Seventy days; the last two before today, and today, are not final. */
function rowsOf(credits: Readonly<Record<string, number>>): readonly CostRow[] {
  return Object.entries(credits).flatMap(([id, value]) =>
    Array.from({ length: 70 }, (_, index) => ({
      ...{
        day: addDays(TODAY, index - 69),
        entityId: id,
        entityName: id,
        kind: 'service' as const,
      },
      ...{ serviceId: id, warehouseId: 'w', metrics: { computeCredits: microOf(value) } },
      ...{ total: microOf(value), locked: index < 67 },
    })),
  );
}

const ROWS = rowsOf({ 'prod-1': 100, 'dev-1': 40 });

function budget(more: Partial<Budget> = {}): Budget {
  const on = { services: null, tags: ['prod'], warehouses: null, teams: null };
  const thresholds = [50, 80, 100];
  return {
    ...{ name: 'production', credits: 3_000, on, notify: '#c', thresholds },
    ...more,
  };
}

test.for<[number, string]>([
  [0, '░░░░░░░░ 0%'],
  [0.59, '█████░░░ 59%'],
  [1, '████████ 100%'],
  [3.2, '████████ 320%'],
])('a share of %d is drawn as %s', ([share, text]) => {
  expect(progressBar(share)).toBe(text);
});

function inputsOf(rows: readonly CostRow[]): BudgetInputs {
  const read = { rows, fetchedAt: null, problems: [], gaps: [], lockAge: null };
  return { read, states: dayStates(rows, budgetSpan(TODAY)), services, today: TODAY };
}

const INPUTS = inputsOf(ROWS);

test('a budget on a tag counts the services with that tag, and open days separately', () => {
  const standing = budgetStanding(budget(), INPUTS);
  expect(standing).toMatchObject({ spent: 2_000, preliminary: 300, lastSettled: '2026-11-17' });
  expect(standing.pace?.ratio).toBeCloseTo(1);
  expect(budgetStanding(budget({ on: null }), INPUTS).spent).toBe(2_800);
  expect(budgetSummary(standing).bar).toBe('█████░░░ 67% · heading for 3,000 of 3,000 (±0%)');
});

test('a budget on a team counts the services of that team', () => {
  const on = { services: null, tags: null, warehouses: null, teams: ['of-dev-1'] };
  expect(budgetStanding(budget({ on }), INPUTS).spent).toBe(800);
});

test('a budget on a tag shows how many services with costs have no known tags', () => {
  const rows = [...ROWS, ...rowsOf({ 'new-1': 10 })];
  const fact = (on: Budget['on']) =>
    new Map(budgetFacts(budgetStanding(budget({ on }), inputsOf(rows)))).get('Scope');
  expect(fact(budget().on)).toBe('1 service left out: not in signalbox.yaml');
  expect(fact(null)).toBeUndefined();
});

test('of several thresholds crossed at once only the highest is reported', () => {
  const standing = budgetStanding(budget({ credits: 2_400 }), INPUTS);
  const { memory, news } = evaluateBudget(standing, null, TODAY);
  expect(news).toContainEqual({ kind: 'threshold', threshold: 80 });
  expect(
    evaluateBudget(standing, memory, TODAY).news.filter(({ kind }) => kind === 'threshold'),
  ).toEqual([]);
});

test('a budget with an edited amount is reported again', () => {
  const before = evaluateBudget(budgetStanding(budget(), INPUTS), null, TODAY);
  const edited = budgetStanding(budget({ credits: 2_000 }), INPUTS);
  expect(evaluateBudget(edited, before.memory, TODAY).news).toContainEqual({
    kind: 'threshold',
    threshold: 100,
  });
});

test('a notice is announced once, also where only its mark is known', async () => {
  const store = await freshStore('sqlite');
  const standing = budgetStanding(budget({ credits: 2_400 }), INPUTS);
  const evaluated = () => evaluateBudgets(store.root, [standing], TODAY);
  const updates = await evaluated();
  expect(budgetMessages(updates)).toMatchObject([
    {
      name: expect.stringMatching(/^post\/budget-production\/2026-11-[0-9a-f]{16}$/),
      thread: null,
    },
  ]);
  const at = new Date(`${TODAY}T12:00:00Z`);
  await transaction(store, (tx) => storeBudgets(tx, updates, at));
  expect(budgetMessages(await evaluated())).toEqual([]);
  await transaction(store, (tx) => dropState(tx, 'budget production'));
  expect(budgetMessages(await evaluated())).toEqual([]);
});

test('a message with days that are not final shows when days usually become final', () => {
  const lockAge = { usual: 12, low: 11, high: 14, days: 28 };
  const noteOn = (rows: readonly CostRow[]) => {
    const states = dayStates(rows, budgetSpan(TODAY));
    const read = { ...INPUTS.read, rows, lockAge };
    const standing = budgetStanding(budget({ credits: 2_400 }), { ...INPUTS, read, states });
    const { news } = evaluateBudget(standing, null, TODAY);
    return budgetAnswer(standing, news).parts.at(-1);
  };
  const open = 'UTC month, in credits · days usually become final after 12 days (11–14). A budget';
  expect(noteOn(ROWS)).toHaveProperty('text', expect.stringContaining(open));
  const final = ROWS.map((row) => ({ ...row, locked: true }));
  expect(noteOn(final)).toHaveProperty('text', expect.stringContaining('in credits. A budget'));
});

test.for<['fast' | 'slow', string, string]>([
  [
    'fast',
    'Budget "production": burn rate 2.4 times the plan on the last settled day',
    '2.4 times the plan on the last settled day, 1.6 times the plan in 3 days, 1.3 times the plan in 7 days',
  ],
  [
    'slow',
    'Budget "production": burn rate 1.3 times the plan in 7 days',
    '1.3 times the plan in 7 days',
  ],
])('a message about a %s burn has its rates', ([kind, title, rates]) => {
  const burn = { kind, rates: [2.4, 1.6, 1.3] } as const;
  const standing = { ...budgetStanding(budget(), INPUTS), burn };
  expect(budgetAnswer(standing, [{ kind: 'burn', burn }]).title).toBe(title);
  expect(budgetFacts(standing)).toContainEqual(['Burn', rates]);
});

test('a message has the forecast first, then the state of the budget', () => {
  const standing = budgetStanding(budget({ credits: 2_400 }), INPUTS);
  const { news } = evaluateBudget(standing, null, TODAY);
  expect(budgetAnswer(standing, news)).toMatchInlineSnapshot(`
    {
      "parts": [
        {
          "kind": "text",
          "text": "Budget "production": past 80% (83% spent)",
        },
        {
          "facts": [
            [
              "Spent",
              "███████░ 83% · 2,000 of 2,400, 300 of it not final",
            ],
            [
              "Plan",
              "1,700 spent through Tue 17 Nov, 1,360 planned",
            ],
            [
              "Forecast",
              "3,000 (2,974–3,026) if usage does not change",
            ],
          ],
          "kind": "facts",
        },
        {
          "kind": "note",
          "text": "UTC month, in credits. A budget does not limit usage.",
        },
      ],
      "title": "Budget "production": almost certainly over, heading for 3,000 of 2,400 (+25%)",
    }
  `);
});

test('with a price a budget has money as well, each day at its own price', () => {
  const prices = [
    { from: '2025-01-01', currency: 'EUR', perCredit: 300_000 },
    { from: '2026-11-16', currency: 'EUR', perCredit: 400_000 },
  ];
  const rows = withPrices(ROWS, prices);
  const { read, ...inputs } = inputsOf(rows);
  const standing = budgetStanding(budget(), { ...inputs, read: { ...read, prices } });
  const facts = new Map(budgetFacts(standing));
  // 15 days of 30 and 5 days of 40; the amount of 15 days each.
  expect(facts.get('Spent')).toContain('2,000 of 3,000 (€650 of €1,050), 300 (€120) of it not');
  expect(facts.get('Plan')).toContain('through Tue 17 Nov, 1,700 planned (€530 of €530)');
  expect(facts.get('Forecast')).toContain('if usage does not change · €1,050 (€1,040–€1,060)');
});

test('with a month that cannot be read, a budget claims and notifies nothing', () => {
  const gaps = [{ month: '2026-10', why: 'Too many requests', denied: false, from: null }];
  const { read, ...inputs } = INPUTS;
  const standing = budgetStanding(budget({ credits: 4_000 }), {
    ...inputs,
    read: { ...read, gaps },
  });
  expect(budgetSummary(standing).state).toBe('unknown');
  expect(budgetFacts(standing).at(-1)).toEqual(['Not read', '2026-10: not in these figures']);
  const over = budgetStanding(budget({ credits: 100 }), { ...inputs, read: { ...read, gaps } });
  expect(evaluateBudget(over, null, TODAY).news).toEqual([]);
});
