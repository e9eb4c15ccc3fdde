import { type Json, list, numberOf, record, stringOf, textOf } from '../../json.ts';

export type Chart = ReturnType<typeof chartOf>;

/** The content of a data_visualization block with a bar chart. */
export function chartOf(block: Json) {
  const chart = record(block.chart);
  const axes = record(chart.axis_config);
  return {
    title: textOf(block.title),
    categories: Array.isArray(axes.categories) ? axes.categories.map(stringOf) : [],
    series: list(chart.series).map(({ name, data }) => ({
      name: stringOf(name),
      values: list(data).map(({ value }) => numberOf(value) ?? 0),
    })),
    xLabel: stringOf(axes.x_label),
    yLabel: stringOf(axes.y_label),
  };
}

const STEPS = [1, 2, 2.5, 5, 10];

/** About five round numbers whose range contains all values and zero. */
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

/** The interval of labels that fit in the width without overlap: 1 for all, 2 for every second. */
export function labelInterval(categories: readonly string[], width: number): number {
  const longest = Math.max(1, ...categories.map((category) => category.length));
  const capacity = Math.max(1, Math.floor(width / (longest * 6.4 + 5)));
  return Math.ceil(categories.length / capacity);
}

const number = new Intl.NumberFormat('en-US', { maximumFractionDigits: 2 });

export const formatNumber = (value: number): string => number.format(value);
