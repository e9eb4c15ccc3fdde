import { median, quantile } from '../src/maths/numbers.ts';
import type { Kind } from '../test/maths/synthetic.ts';
import { dayBeside, type Gauge, gauged, hodgesLehmann } from '../test/maths/synthetic-effects.ts';
import { SEED } from './costs-aim.ts';

const CHANGES = 500;
const KINDS: readonly Kind[] = ['steady', 'business', 'weekly-job', 'bursty'];
const GAUGES: readonly Gauge[] = [hodgesLehmann(3), hodgesLehmann(7), dayBeside];

export const EFFECT_TITLE =
  `Measured effect: ${CHANGES} changes of each kind of line. Median / p90 of the error of the ratio ` +
  'in %; (share within the interval).';
export const EFFECT_HEAD = ['', '3 days', '7 days', 'day after / day before'];

export function effectTest(): readonly (readonly string[])[] {
  return KINDS.map((kind) => [kind, ...GAUGES.map((gauge) => told(kind, gauge))]);
}

function told(kind: Kind, gauge: Gauge): string {
  const all = gauged(SEED, CHANGES, kind, gauge);
  const errors = all.map(({ error }) => 100 * error);
  const within = all.filter((one) => one.within).length / all.length;
  const figures = `${median(errors).toFixed(1)} / ${quantile(errors, 0.9).toFixed(0)}`;
  return gauge === dayBeside ? figures : `${figures} (${(100 * within).toFixed(0)} %)`;
}
