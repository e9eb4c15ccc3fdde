import { median, quantile } from '../src/maths/numbers.ts';
import { LONG_SPANS, longGuesses } from '../test/maths/synthetic-spans.ts';
import { SEED } from './costs-aim.ts';

const ORGANIZATIONS = 200;

const DAYS = {
  quarter: [10, 30, 60, 80],
  year: [30, 90, 180, 270, 330],
} as const;

export const LONG_TITLE =
  `Forecasts of quarters and years: ${ORGANIZATIONS} organisations of 12 lines. Median / p90 of the ` +
  'absolute error in % of the span, (share of spans within the interval of 80 %).';
export const LONG_HEAD = ['', 'days elapsed', 'without trends', 'a quarter of the lines with one'];

export function longSpanTest(): readonly (readonly string[])[] {
  return (['quarter', 'year'] as const).flatMap((name) =>
    DAYS[name].map((elapsed) => [
      name,
      String(elapsed),
      ...[false, true].map((trending) => shown(name, elapsed, trending)),
    ]),
  );
}

function shown(name: keyof typeof LONG_SPANS, elapsed: number, trending: boolean): string {
  const span = LONG_SPANS[name];
  const guessed = longGuesses(SEED, ORGANIZATIONS, { span, elapsed, trending });
  const errors = guessed.map(({ error }) => 100 * error);
  const within = guessed.filter((guess) => guess.within).length / guessed.length;
  const figures = `${median(errors).toFixed(1)} / ${quantile(errors, 0.9).toFixed(1)}`;
  return `${figures} (${(100 * within).toFixed(0)} %)`;
}
