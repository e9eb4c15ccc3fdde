import { expect, test } from 'vitest';
import { median } from '../../src/maths/numbers.ts';
import { LONG_SPANS, longGuesses } from './synthetic-spans.ts';

/** The errors are twice those of docs/costs.md#tests-on-synthetic-data for so few organisations. */
test.for<[keyof typeof LONG_SPANS, number, boolean, number]>([
  ['quarter', 10, false, 0.088],
  ['quarter', 60, true, 0.026],
  ['year', 90, false, 0.138],
  ['year', 90, true, 0.228],
  ['year', 270, true, 0.044],
])(
  'the range of a %s on day %i holds in about four of five cases (trends: %s)',
  ([name, elapsed, trending, largest]) => {
    const all = longGuesses(7, 60, { span: LONG_SPANS[name], elapsed, trending });
    const share = all.filter(({ within }) => within).length / all.length;
    expect(share).toBeGreaterThan(0.7);
    expect(median(all.map(({ error }) => error))).toBeLessThan(largest);
  },
);
