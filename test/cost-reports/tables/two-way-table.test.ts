import fc from 'fast-check';
import { expect, test } from 'vitest';
import { lineChanges, preparePeriods } from '../../../src/cost-reports/compare-periods.ts';
import { comparedGroups } from '../../../src/cost-reports/tables/compared-groups.ts';
import { twoWayTable } from '../../../src/cost-reports/tables/two-way-table.ts';
import { addDays } from '../../../src/costs/calendar/day.ts';
import { dayStates } from '../../../src/costs/ledger/ledger.ts';
import { type CostRow, METRICS, type Metric, microOf } from '../../../src/costs/ledger/row.ts';
import type { TwoGroupings } from '../../../src/costs/ledger/two-groupings.ts';
import { readPeriod } from '../../../src/costs/question/period.ts';
import type { AnswerPart } from '../../../src/intent/answers/answer.ts';
import { answerMessage } from '../../../src/slack/blocks/answer-blocks.ts';
import { daily, row, TODAY, warehouseRow } from '../../costs/rows.ts';
import { written } from '../written.ts';

function period(text: string) {
  const reading = readPeriod(text, TODAY);
  return reading.ok ? reading.period : expect.fail(text);
}

interface Asked {
  readonly of: string;
  readonly vs?: string;
  readonly top?: number;
}

function tableOf(
  rows: readonly CostRow[],
  groupings: TwoGroupings,
  { of, vs, top }: Asked,
): AnswerPart & { kind: 'table' } {
  const span = period(of);
  const states = dayStates(rows, span);
  const compared = vs === undefined ? null : preparePeriods(rows, {}, span, period(vs));
  const changes = compared && lineChanges(rows, groupings[0], compared);
  const costs = { period: span, states, shown: rows, rows, compared };
  const groups = comparedGroups(groupings, costs, changes);
  const part = twoWayTable({ groupings, groups, changes, top: top ?? null });
  return part.kind === 'table' ? part : expect.fail('not a table');
}

function textOf(part: AnswerPart): string {
  return written({ title: '', parts: [part] });
}

/** The figures of a column by row, in millionths; the first two cells are names. */
function figuresOf(part: AnswerPart & { kind: 'table' }, column: number) {
  return part.rows.map((cells) => {
    const [group, line] = cells.map((cell) =>
      typeof cell === 'object' && cell !== null && 'text' in cell ? cell.text : String(cell),
    );
    const cell = cells[column];
    const value = typeof cell === 'object' && cell !== null && 'value' in cell ? cell.value : null;
    return { group, line, micro: Math.round((value ?? 0) * 1e6) };
  });
}

/** The parts add up to their subtotal wherever any are shown, and the subtotals to the total. */
function expectAddsUp(part: AnswerPart & { kind: 'table' }, total: number, column = 2): void {
  const figures = figuresOf(part, column);
  const all = figures.pop();
  expect(all).toEqual({ group: 'All', line: 'Total', micro: total });
  const groups = Map.groupBy(figures, ({ group }) => group);
  let sum = 0;
  for (const [first, ...parts] of groups.values()) {
    const subtotal = first ?? expect.fail('no subtotal');
    expect(subtotal.line).toBe('Total');
    sum += subtotal.micro;
    if (parts.length > 0)
      expect(parts.reduce((own, { micro }) => own + micro, 0)).toBe(subtotal.micro);
  }
  expect(sum).toBe(total);
}

const ROWS = [
  ...daily('2026-11-09', Array(7).fill(10), {
    metrics: { computeCredits: microOf(9), dataTransferCredits: microOf(1) },
  }),
  ...daily('2026-11-02', Array(7).fill(8), { metrics: { computeCredits: microOf(8) } }),
  ...daily('2026-11-02', Array(7).fill(2), { entityId: 's-2', entityName: 'archive' }),
  ...Array.from({ length: 7 }, (_, day) =>
    warehouseRow({
      day: addDays('2026-11-09', day),
      credits: 1,
      metrics: { storageCredits: microOf(1) },
    }),
  ),
];

test('by service and metric, each service has a subtotal and its metrics', () => {
  expect(textOf(tableOf(ROWS, ['service', 'metric'], { of: 'last-week' }))).toMatchInlineSnapshot(`
    "
    Service | Metric | Credits | Share
    analytics-prod | Total | 70.0 | 91%
    analytics-prod | compute | 63.0 | 82%
    analytics-prod | data transfer | 7.0 | 9%
    warehouse main: storage + backup | Total | 7.0 | 9%
    warehouse main: storage + backup | storage | 7.0 | 9%
    All | Total | 77.0 | 100%"
  `);
});

test('two weeks are compared by service and metric, also for a service that is gone', () => {
  const asked = { of: 'last-week', vs: '2026-11-02..2026-11-08' };
  const part = tableOf(ROWS, ['service', 'metric'], asked);
  expect(textOf(part)).toMatchInlineSnapshot(`
    "
    Service | Metric | Credits | Share | Change
    analytics-prod | Total | 70.0 | 91% | +14.0
    analytics-prod | compute | 63.0 | 82% | +7.0
    analytics-prod | data transfer | 7.0 | 9% | +7.0 (new)
    warehouse main: storage + backup | Total | 7.0 | 9% | +7.0 (new)
    warehouse main: storage + backup | storage | 7.0 | 9% | +7.0 (new)
    archive | Total | 0 | 0% | −14.0 (gone)
    archive | compute | 0 | 0% | −14.0 (gone)
    All | Total | 77.0 | 100% | +7.0"
  `);
  expectAddsUp(part, microOf(77));
  expectAddsUp(part, microOf(77 - 70), 4);
});

test('days, weeks and months have no change, and so have the parts within one', () => {
  const asked = { of: 'last-week', vs: '2026-11-02..2026-11-08' };
  expect(tableOf(ROWS, ['day', 'service'], asked).columns).not.toContain('Change');
  const [subtotal, day] = tableOf(ROWS, ['service', 'day'], asked).rows;
  expect([subtotal?.[4], day?.[4]]).toEqual([{ value: 14, text: '+14.0' }, null]);
});

test('a day without data has a line, and its parts none', () => {
  const rows = ROWS.filter(({ day }) => day !== '2026-11-11');
  const text = textOf(tableOf(rows, ['day', 'service'], { of: 'last-week' }));
  expect(text).toContain('Wed 11 Nov | Total | no data');
  expect(text).not.toContain('Wed 11 Nov | analytics-prod');
});

test('days are columns of dates, so that they sort by the calendar', () => {
  const { rows } = tableOf(ROWS, ['service', 'day'], { of: 'last-week' });
  expect(rows.map((cells) => cells[1])).toContainEqual({
    value: expect.any(Number),
    text: 'Mon 9 Nov',
    isName: true,
  });
  expect(rows.every((cells) => typeof cells[1] === 'object')).toBe(true);
});

test('of the top groups, the others are one line with their number', () => {
  const part = tableOf(ROWS, ['service', 'metric'], { of: 'last-week', top: 1 });
  expect(textOf(part)).toContain('Other (1) | Total | 7.0');
  expectAddsUp(part, microOf(77));
  const days = tableOf(ROWS, ['day', 'service'], { of: 'last-week', top: 3 });
  expect(textOf(days)).toContain('Other (4) | Total | 44.0');
  expectAddsUp(days, microOf(77));
});

/** `services` with as many metrics each on as many days; amounts differ, so that no two sums tie. */
function many(services: number, metrics: number, days: number, name = 'service'): CostRow[] {
  return Array.from({ length: services }, (_, service) =>
    Array.from({ length: days }, (_, day) => {
      const named = METRICS.slice(0, metrics).map((metric, index): [Metric, number] => [
        metric,
        (service + 1) * 1_000 + index * 10 + day,
      ]);
      const total = named.reduce((sum, [, amount]) => sum + amount, 0);
      const entityId = `id-${service}`;
      const entityName = `${name}-${service}`;
      // fromEntries loses the type of the keys.
      const own = Object.fromEntries(named) as Partial<Record<Metric, number>>;
      return {
        ...row({ entityId, entityName, metrics: own }),
        total,
        day: addDays('2026-11-19', -day),
      };
    }),
  ).flat();
}

/** Slack takes the whole table: nothing is left out of it without a sum. */
function expectFits(part: AnswerPart): void {
  const { blocks } = answerMessage({ title: 'Costs', parts: [part] });
  expect(JSON.stringify(blocks)).toMatch(/"type":"(data_)?table"/);
  expect(JSON.stringify(blocks)).not.toContain('not shown');
}

test('of many metrics, the cheapest of each service are one line', () => {
  const part = tableOf(many(30, 10, 2), ['service', 'metric'], { of: '7d' });
  expect(figuresOf(part, 2).filter(({ line }) => /^\d more$/.test(line ?? ''))).toHaveLength(30);
  expectFits(part);
});

test('of many services by day, the cheapest services are one line and no day is left out', () => {
  const part = tableOf(many(40, 1, 19), ['service', 'day'], { of: 'mtd' });
  const text = textOf(part);
  expect(text).toMatch(/Other \(3\d\) \| Total/);
  expect(text).not.toContain('earlier');
  expectFits(part);
});

test('of many days by service, the earliest days are one line', () => {
  const part = tableOf(many(4, 1, 90), ['day', 'service'], { of: '90d' });
  const figures = figuresOf(part, 2);
  expect(figures[0]?.group).toMatch(/^\d+ earlier days$/);
  expect(figures.at(-2)?.group).toBe('Thu 19 Nov');
  expectFits(part);
});

const groupings = fc.constantFrom<TwoGroupings>(
  ['service', 'metric'],
  ['metric', 'service'],
  ['service', 'day'],
  ['day', 'service'],
  ['week', 'metric'],
  ['month', 'day'],
);

test('a table of any size fits, and adds up', () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 1, max: 60 }),
      fc.integer({ min: 1, max: 10 }),
      fc.integer({ min: 1, max: 60 }),
      fc.constantFrom('s', 'a name of some length', 'n'.repeat(90)),
      groupings,
      (services, metrics, days, name, pair) => {
        const rows = many(services, metrics, days, name);
        const part = tableOf(rows, pair, { of: '60d' });
        expectAddsUp(
          part,
          rows.reduce((sum, { total }) => sum + total, 0),
        );
        expectFits(part);
      },
    ),
    { numRuns: 60 },
  );
});
