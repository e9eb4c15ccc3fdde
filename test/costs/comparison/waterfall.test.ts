import fc from 'fast-check';
import { expect, test } from 'vitest';
import { daysBetween } from '../../../src/base/time.ts';
import { changesBetween } from '../../../src/costs/comparison/movers.ts';
import {
  roundedWaterfall,
  type Waterfall,
  waterfallOf,
} from '../../../src/costs/comparison/waterfall.ts';
import { figure } from '../../../src/costs/ledger/numbers.ts';
import { type CostRow, microOf } from '../../../src/costs/ledger/row.ts';
import { sumBy } from '../../../src/costs/ledger/summary.ts';
import { moneyText } from '../../../src/costs/money/money-text.ts';
import { withPrices } from '../../../src/costs/money/price.ts';
import { randomRows, spans, totalOf } from '../rows.ts';

const PRICES = [
  { from: '2026-01-01', perCredit: 320_000, currency: 'EUR' },
  { from: '2026-10-12', perCredit: 347_113, currency: 'EUR' },
];

/** The amounts of lines by service, before and now, of rows and two spans that may overlap. */
const comparisons = fc.record({
  rows: randomRows.map((rows) => withPrices(rows, PRICES)),
  now: spans,
  before: spans,
  top: fc.constantFrom(null, 1, 3, 100),
});

type Compared = typeof comparisons extends fc.Arbitrary<infer Each> ? Each : never;

function linesOf({ rows, now, before }: Compared) {
  return { nowLines: sumBy(rows, 'service', now), beforeLines: sumBy(rows, 'service', before) };
}

function waterfall(compared: Compared): Waterfall {
  const { rows, now, before, top } = compared;
  const { nowLines, beforeLines } = linesOf(compared);
  const moneyIn = (span: typeof now) => ({
    currency: 'EUR',
    trillionths: exactMoney(rows, span),
  });
  const totals = {
    start: { micro: totalOf(rows, before), money: moneyIn(before) },
    end: { micro: totalOf(rows, now), money: moneyIn(now) },
  };
  return waterfallOf(changesBetween(nowLines, beforeLines), totals, top);
}

/** The money by day, without the functions of the source. */
function exactMoney(rows: readonly CostRow[], { first, last }: { first: string; last: string }) {
  return daysBetween(first, last)
    .flatMap((day) => rows.filter((row) => row.day === day))
    .reduce((sum, { day, total }) => {
      const [earlier, later] = PRICES.map(({ perCredit }) => BigInt(perCredit));
      const price = (day < '2026-10-12' ? earlier : later) ?? 0n;
      return sum + BigInt(total) * price;
    }, 0n);
}

const microSum = ({ steps, others }: Waterfall) =>
  [...steps, others].reduce((sum, { micro }) => sum + micro, 0);

test('start, steps and others add up to the end exactly, in credits and in money', () => {
  fc.assert(
    fc.property(comparisons, (compared) => {
      const all = waterfall(compared);
      const { start, steps, others, end } = all;
      expect(start.micro + microSum(all)).toBe(end.micro);
      // The lines without a step, added without the waterfall.
      const { nowLines, beforeLines } = linesOf(compared);
      const isOther = ({ key }: { key: string }) => !steps.some((step) => step.key === key);
      const sum = (lines: typeof nowLines) =>
        lines.filter(isOther).reduce((whole, { total }) => whole + total, 0);
      expect(others.micro).toBe(sum(nowLines) - sum(beforeLines));
      const moneySteps = steps.reduce((whole, { money }) => whole + (money?.trillionths ?? 0n), 0n);
      const before = start.money?.trillionths ?? 0n;
      expect(before + moneySteps).toBe(
        (end.money?.trillionths ?? 0n) - (others.money?.trillionths ?? 0n),
      );
      expect(others.money).not.toBeNull();
    }),
  );
});

const shownCredits = (micro: number) => Number(figure(micro).replaceAll(',', '').replace('−', '-'));
const shownMoney = ({ money }: Waterfall['start']) =>
  money ? Number(moneyText(money).replace(/[€,]/g, '').replace('−', '-')) : 0;

test('what a reader sees adds up as well', () => {
  fc.assert(
    fc.property(comparisons, (compared) => {
      const exact = waterfall(compared);
      const { start, steps, others, end } = roundedWaterfall(exact);
      const parts = [start, ...steps, others];
      const credits = parts.reduce((sum, { micro }) => sum + shownCredits(micro), 0);
      expect(credits).toBeCloseTo(shownCredits(end.micro), 6);
      const money = parts.reduce((sum, part) => sum + shownMoney(part), 0);
      expect(money).toBeCloseTo(shownMoney(end), 6);
      // Only the other lines take the rounding of the others.
      steps.forEach(({ micro }, index) => {
        expect(Math.abs(micro - (exact.steps[index]?.micro ?? 0))).toBeLessThanOrEqual(500_000);
      });
    }),
  );
});

function line(key: string, credits: number) {
  return { key, name: key, total: microOf(credits), money: null };
}

const TOTALS = {
  start: { micro: microOf(100), money: null },
  end: { micro: microOf(160), money: null },
};

test.for<[string, number | null, string[], number]>([
  ['until they explain 80%', null, ['a', 'b'], 2],
  ['the largest one', 1, ['a'], 3],
  ['all', 9, ['a', 'b', 'c', 'd'], 0],
])('steps are the largest changes: %s', ([, top, keys, others]) => {
  const before = [line('a', 50), line('b', 40), line('c', 9), line('d', 1), line('e', 0)];
  const now = [line('a', 120), line('b', 20), line('c', 15), line('d', 5), line('e', 0)];
  const found = waterfallOf(changesBetween(now, before), TOTALS, top);
  expect(found.steps.map(({ key }) => key)).toEqual(keys);
  // A line that did not change is none of the others.
  expect(found.others.lines).toBe(others);
});

test('steps without a known money leave the money of the others unknown', () => {
  const money = { currency: 'EUR', trillionths: 1n };
  const totals = { start: { micro: 0, money }, end: { micro: microOf(5), money } };
  const changes = changesBetween([line('a', 5)], []);
  expect(waterfallOf(changes, totals).others.money).toBeNull();
});
