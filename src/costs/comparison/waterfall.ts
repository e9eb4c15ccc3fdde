import { creditsOf, type Micro, microOf } from '../ledger/row.ts';
import { type Money, moneyDifference, moneySum } from '../money/money.ts';
import { roundedMoney } from '../money/money-text.ts';
import { largest, type Mover } from './movers.ts';

/** Millionths of a credit; the money is null without a price for each of its days. */
export interface Amount {
  readonly micro: Micro;
  readonly money: Money | null;
}

interface Totals {
  readonly start: Amount;
  readonly end: Amount;
}

/** How one total became another: `start + Σ steps + others = end`, exact to the millionth. */
export interface Waterfall extends Totals {
  readonly steps: readonly Step[];
  /** The sum of the lines that changed and have no step of their own, and their number. */
  readonly others: Amount & { readonly lines: number };
}

export interface Step extends Amount, Pick<Mover, 'key' | 'name' | 'kind' | 'relative'> {}

/**
 * The largest changes as steps between the totals of the same lines, and the rest as one amount.
 * `top`: the number of steps; null: as many as the list of movers has, of any size.
 * Source: docs/costs.md#waterfall.
 */
export function waterfallOf(
  changes: readonly Mover[],
  totals: Totals,
  top: number | null = null,
): Waterfall {
  const moved = changes.filter(({ delta }) => delta !== 0);
  const steps = largest(moved, { minimum: 0, top }).map(
    ({ key, name, kind, relative, delta, money }) => {
      return { key, name, kind, relative, micro: delta, money };
    },
  );
  return withOthers(totals, steps, moved.length - steps.length);
}

/**
 * The same amounts rounded to what is shown: one decimal, none from 10,000 credits on, two below one
 * credit; money to the smallest unit. The other lines take the rounding, so that what a reader sees
 * adds up as well.
 */
export function roundedWaterfall({ start, steps, others, end }: Waterfall): Waterfall {
  const sizes = [start, ...steps, others, end].map(({ micro }) => Math.abs(micro));
  const size = creditsOf(Math.max(...sizes));
  const unit = microOf(size >= 10_000 ? 1 : size >= 1 ? 0.1 : 0.01);
  const rounded = ({ micro, money }: Amount): Amount => ({
    micro: Math.round(micro / unit) * unit,
    money: money && roundedMoney(money),
  });
  const totals = { start: rounded(start), end: rounded(end) };
  return withOthers(
    totals,
    steps.map((step) => ({ ...step, ...rounded(step) })),
    others.lines,
  );
}

function withOthers(totals: Totals, steps: readonly Step[], lines: number): Waterfall {
  const { start, end } = totals;
  const micro = steps.reduce((rest, step) => rest - step.micro, end.micro - start.micro);
  const delta = moneyDifference(end.money, start.money);
  const explained = steps.length === 0 ? undefined : moneySum(steps.map(({ money }) => money));
  return { ...totals, steps, others: { micro, money: moneyDifference(delta, explained), lines } };
}
