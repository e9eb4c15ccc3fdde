import { expect, test } from 'vitest';
import { budgetAnswer, budgetLine, progressBar } from '../../src/budgets/budget-text.ts';
import {
  type Budget,
  budgetSpan,
  budgetStanding,
  evaluateBudget,
} from '../../src/budgets/budgets.ts';
import { addDays } from '../../src/costs/calendar/day.ts';
import { dayStates } from '../../src/costs/ledger/ledger.ts';
import { type CostRow, microOf } from '../../src/costs/ledger/row.ts';
import type { Service } from '../../src/directory/directory.ts';

const TODAY = '2026-11-20';

function service(id: string, tags: readonly string[]): Service {
  const rest = { aliases: [], warehouse: null, pipes: [], source: 'configuration', lastSeen: null };
  return { id, name: id, tags, ...rest };
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
  const on = { services: null, tags: ['prod'], warehouses: null };
  const thresholds = [50, 80, 100];
  return { name: 'production', monthlyCredits: 3_000, on, notify: '#c', thresholds, ...more };
}

test.for<[number, string]>([
  [0, '░░░░░░░░ 0%'],
  [0.59, '█████░░░ 59%'],
  [1, '████████ 100%'],
  [3.2, '████████ 320%'],
])('a share of %d is drawn as %s', ([share, text]) => {
  expect(progressBar(share)).toBe(text);
});

const INPUTS = {
  rows: ROWS,
  states: dayStates(ROWS, budgetSpan(TODAY)),
  services,
  today: TODAY,
};

test('a budget on a tag counts the services with that tag, and open days separately', () => {
  const standing = budgetStanding(budget(), INPUTS);
  expect(standing).toMatchObject({ spent: 2_000, preliminary: 300, lastFinal: '2026-11-17' });
  expect(standing.pace?.ratio).toBeCloseTo(1);
  expect(budgetStanding(budget({ on: null }), INPUTS).spent).toBe(2_800);
  expect(budgetLine(standing)).toBe('production █████░░░ 67% · heading for 3,000 of 3,000 (±0%)');
});

test('of several thresholds crossed at once only the highest is reported', () => {
  const standing = budgetStanding(budget({ monthlyCredits: 2_400 }), INPUTS);
  const { memory, news } = evaluateBudget(standing, null, TODAY);
  expect(news).toContainEqual({ kind: 'threshold', threshold: 80 });
  expect(
    evaluateBudget(standing, memory, TODAY).news.filter(({ kind }) => kind === 'threshold'),
  ).toEqual([]);
});

test('a budget with an edited amount is reported again', () => {
  const before = evaluateBudget(budgetStanding(budget(), INPUTS), null, TODAY);
  const edited = budgetStanding(budget({ monthlyCredits: 2_000 }), INPUTS);
  expect(evaluateBudget(edited, before.memory, TODAY).news).toContainEqual({
    kind: 'threshold',
    threshold: 100,
  });
});

test('a message names what is to come first, then where the budget stands', () => {
  const standing = budgetStanding(budget({ monthlyCredits: 2_400 }), INPUTS);
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
              "1,700 through Tue 17 Nov, planned 1,360",
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
