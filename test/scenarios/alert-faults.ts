import { expect } from 'vitest';
import {
  expectSamples,
  fires,
  firesNothing,
  firing,
  inputOf,
  type Samples,
  type Stage,
  scrape,
} from '../deploy/promtool.ts';
import { quietness } from '../harness/passing-time.ts';
import type { TestSandbox } from '../harness/test-sandbox.ts';

/** Reads the metrics of one process. */
export const read = ({ url }: { readonly url: string }) => scrape({ a: url });
/** The value of a metric, by its name or by its name and the first labels: `jobs{state="open"`. */
export function metricIn(samples: Samples, name: string): number | undefined {
  const start = name.includes('{') ? name : `${name}{`;
  return [...samples].find(([series]) => series.startsWith(start))?.[1];
}

/** The samples as soon as this metric has the value, or one that passes the check. */
export async function readUntil(
  bot: { readonly url: string },
  name: string,
  isReached: number | ((value: number) => boolean),
): Promise<Samples> {
  let samples: Samples = new Map();
  const check = async () => {
    samples = await read(bot);
    const value = metricIn(samples, name) ?? Number.NaN;
    return typeof isReached === 'number' ? value === isReached : isReached(value);
  };
  await expect.poll(check, { interval: 50 }).toBe(true);
  return samples;
}

interface FiringOptions {
  /** Minutes after the fault; 20 by default. */
  readonly minutes?: number;
  /** More labels of the alert. */
  readonly labels?: Readonly<Record<string, string>>;
}

/** Expects that the alert fires some time after the fault, and that no alert fires without the fault. */
export function expectAlert(
  alert: string,
  before: Samples,
  during: Samples,
  { minutes = 20, labels }: FiringOptions = {},
): void {
  expectSamples(
    fires(alert, inputOf(before, during), { 2: [], [minutes]: [firing(alert, labels)] }),
    firesNothing(inputOf(before, before), [minutes]),
  );
}

interface MeasuredMinute {
  readonly before: Samples;
  readonly after: Samples;
  readonly labels?: Readonly<Record<string, string>>;
}

/**
 * Expects that the alert fires while each minute adds to the counters what the measured minute added, and that no
 * alert fires without the fault.
 */
export function expectAlertAtRate(alert: string, minute: MeasuredMinute): void {
  expectSamples(
    fires(alert, atRate(minute), { 2: [], 30: [firing(alert, minute.labels)] }),
    firesNothing(inputOf(minute.before, minute.before), [30]),
  );
}

/** Expects that no alert fires while each minute adds what the measured minute added. */
export function expectNoAlertAtRate(minute: MeasuredMinute): void {
  expectSamples(firesNothing(atRate(minute), [30]));
}

function atRate({ before, after }: MeasuredMinute) {
  return [...after].map(([series, value]) => {
    const first = before.get(series) ?? 0;
    const isCounter = /_(total|bucket|sum|count)\{/.test(series);
    const grows = isCounter ? `${first}+${value - first}x60` : `${value}x60`;
    return { series, values: `${isCounter ? first : value}x2 ${grows}` };
  });
}

/** A lookup that failed is sent again after 200 ms: the bot is quiet when it has sent nothing for longer. */
export const AWAY = { interval: 100 };

/**
 * Records these minutes in steps of two, in which the bot does what is due. `limits`: of the looks at whether it is
 * quiet.
 */
export async function recordEach(
  sandbox: TestSandbox,
  minutes: number,
  stages: Stage[],
  limits: { readonly interval?: number } = {},
): Promise<void> {
  const isQuiet = quietness(sandbox);
  const untilQuiet = () => expect.poll(isQuiet, limits).toBe(true);
  await untilQuiet();
  for (let passed = 0; passed < minutes; passed += 2) {
    sandbox.pass(60_000);
    await untilQuiet();
    sandbox.pass(60_000);
    await untilQuiet();
    stages.push([await read(sandbox), 2]);
  }
}
