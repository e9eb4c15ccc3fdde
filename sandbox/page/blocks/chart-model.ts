import type { Json } from '../../protocol.ts';
import { amount, list, record, word, words } from '../json.ts';

export interface Series {
  readonly name: string;
  readonly values: readonly number[];
}

export interface Plot {
  readonly type: string;
  readonly categories: readonly string[];
  readonly series: readonly Series[];
  readonly xLabel: string;
  readonly yLabel: string;
}

export function plotOf(chart: Json): Plot {
  const axes = record(chart.axis_config);
  const drawn = list(chart.series).map(({ name, data }) => ({
    name: word(name),
    values: list(data).map(({ value }) => amount(value) ?? 0),
  }));
  const labels = list(list(chart.series)[0]?.data).map(({ label }) => word(label));
  const named = words(axes.categories);
  return {
    type: word(chart.type),
    categories: named.length > 0 ? named : labels,
    series: drawn,
    xLabel: word(axes.x_label),
    yLabel: word(axes.y_label),
  };
}

const STEPS = [1, 2, 2.5, 5, 10];

/** Round numbers that span all values and zero, at most about five of them. */
export function ticks(values: readonly number[]): readonly number[] {
  const low = Math.min(0, ...values);
  const high = Math.max(0, ...values);
  const rough = (high - low || 1) / 4;
  const unit = 10 ** Math.floor(Math.log10(rough));
  const step = unit * (STEPS.find((one) => one * unit >= rough) ?? 10);
  const from = Math.floor(low / step);
  const count = Math.max(1, Math.ceil(high / step) - from);
  return Array.from({ length: count + 1 }, (_, at) => Number(((from + at) * step).toPrecision(12)));
}

/** Every how many-th label still has room beside its neighbours. */
export function labelEvery(categories: readonly string[], width: number): number {
  const longest = Math.max(1, ...categories.map((category) => category.length));
  const room = Math.max(1, Math.floor(width / (longest * 6.4 + 5)));
  return Math.ceil(categories.length / room);
}

export const amountText = (value: number): string =>
  new Intl.NumberFormat('en-US', { maximumFractionDigits: 2 }).format(value);
