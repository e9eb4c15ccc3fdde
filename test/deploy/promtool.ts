import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { onTestFinished } from 'vitest';
import { stringify } from 'yaml';
import { RECORDS, RULES } from './prometheus-files.ts';

const PROMTOOL = process.env.PROMTOOL_PATH ?? '/usr/bin/promtool';

/** A series with its values, one per minute, in the notation of promtool: `0+1x9` is 0 to 9. */
export interface InputSeries {
  readonly series: string;
  readonly values: string;
}

/** Minutes, and the samples of the expression that are expected then. */
type Expected = Readonly<Record<number, readonly object[]>>;

/** Samples that this expression is expected to have with this input. */
interface Expectation {
  readonly expr: string;
  readonly input: readonly InputSeries[];
  readonly at: Expected;
}

/** The alert fires exactly as expected. */
export function fires(alert: string, input: readonly InputSeries[], at: Expected): Expectation {
  return { expr: `ALERTS{alertname="${alert}",alertstate="firing"}`, input, at };
}

export function expectFiring(alert: string, input: readonly InputSeries[], at: Expected): void {
  expectSamples(fires(alert, input, at));
}

/** No alert fires at any of these minutes. */
export function firesNothing(input: readonly InputSeries[], minutes: readonly number[]) {
  const at = Object.fromEntries(minutes.map((minute) => [minute, []]));
  return { expr: 'ALERTS{alertstate="firing"}', input, at };
}

/** The words of all expressions, and so the names of the metrics that any rule reads. */
const READ = new Set([...RULES, ...RECORDS].flatMap(({ expr }) => expr.match(/\w+/g) ?? []));

/** A rule can only read series that it names: promtool is not given the many others of a process. */
const isRead = ({ series }: InputSeries): boolean => READ.has(/^\w+/.exec(series)?.[0] ?? '');

/** Fails with the output of promtool where something else happens. Each start of promtool reads all rules. */
export function expectSamples(...expected: readonly Expectation[]): void {
  const folder = mkdtempSync(join(tmpdir(), 'signalbox-rules-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const file = join(folder, 'test.yaml');
  const tests = expected.map(({ expr, input, at }) => ({
    interval: '1m',
    input_series: input.filter(isRead),
    promql_expr_test: Object.entries(at).map(([minutes, exp_samples]) => ({
      expr,
      eval_time: `${minutes}m`,
      exp_samples,
    })),
  }));
  const rule_files = [resolve('deploy/prometheus/alerts.yaml')];
  writeFileSync(file, stringify({ rule_files, evaluation_interval: '1m', tests }));
  execFileSync(PROMTOOL, ['test', 'rules', file], { stdio: 'pipe', encoding: 'utf8' });
}

/** The sample of a firing alert. */
export function firing(alert: string, labels: Readonly<Record<string, string>> = {}) {
  const severity = RULES.find((rule) => rule.alert === alert)?.labels.severity ?? 'none';
  const all = { alertname: alert, alertstate: 'firing', severity, ...labels };
  const pairs = Object.entries(all).map(([name, value]) => `${name}="${value}"`);
  return { labels: `ALERTS{${pairs.join(',')}}`, value: 1 };
}

/** The values of series by name and labels. */
export type Samples = ReadonlyMap<string, number>;

/** Reads the metrics of these targets as Prometheus does, with `up`, which is 0 without an answer. */
export async function scrape(targets: Readonly<Record<string, string>>): Promise<Samples> {
  const samples = new Map<string, number>();
  for (const [instance, url] of Object.entries(targets)) {
    const own = `instance="${instance}",job="signalbox"`;
    const text = await pageOf(`${url}/metrics`);
    samples.set(`up{${own}}`, text === null ? 0 : 1);
    for (const [, name, labels, value] of (text ?? '').matchAll(SAMPLE)) {
      samples.set(`${name}{${labels ? `${labels},` : ''}${own}}`, Number(value));
    }
  }
  return samples;
}

const SAMPLE = /^(signalbox_\w+|process_start_time_seconds)(?:\{(.*)\})? ([\d.e+-]+)$/gm;

async function pageOf(url: string): Promise<string | null> {
  try {
    return await (await fetch(url)).text();
  } catch {
    // The process does not listen any more.
    return null;
  }
}

/** What was read, and for how many minutes it stayed so. */
export type Stage = readonly [samples: Samples, minutes: number];

/** Three minutes with the first samples and an hour with the second ones. A series may be in one only. */
export function inputOf(before: Samples, during: Samples): readonly InputSeries[] {
  return seriesOf([
    [before, 3],
    [during, 61],
  ]);
}

/** The series of these stages. One that a stage does not have has ended, or not begun. */
function seriesOf(stages: readonly Stage[]): readonly InputSeries[] {
  const names = new Set(stages.flatMap(([samples]) => [...samples.keys()]));
  return [...names].map((series) => {
    const values = stages.map(([samples, minutes], index) => {
      const value = samples.get(series);
      if (value !== undefined) return `${value}x${minutes - 1}`;
      const hasEnded = stages[index - 1]?.[0].has(series);
      return hasEnded ? `stale${minutes > 1 ? ` _x${minutes - 2}` : ''}` : `_x${minutes - 1}`;
    });
    return { series, values: values.join(' ') };
  });
}

/** Expects that exactly this alert, or none, fires at any minute of these stages. */
export function expectOnlyAlert(alert: string | null, stages: readonly Stage[]): void {
  const minutes = stages.reduce((sum, [, each]) => sum + each, 0);
  const rung = `group by (alertname) (max_over_time(ALERTS{alertstate="firing"}[${minutes}m]))`;
  const expected = alert === null ? [] : [{ labels: `{alertname="${alert}"}`, value: 1 }];
  expectSamples({ expr: rung, input: seriesOf(stages), at: { [minutes - 1]: expected } });
}
