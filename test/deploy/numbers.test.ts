import { readFileSync } from 'node:fs';
import { parser } from '@prometheus-io/lezer-promql';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { createMetrics } from '../../src/ops/index.ts';
import { NOON } from '../domain/changes-fixtures.ts';
import { GAUGES, HEALTHY } from '../ops/healthy.ts';
import { RECORDS, RULES } from './prometheus-files.ts';

const Panel = z.looseObject({
  id: z.number(),
  title: z.string(),
  gridPos: z.strictObject({ x: z.number(), y: z.number(), w: z.number(), h: z.number() }),
  targets: z.array(z.looseObject({ expr: z.string() })).min(1),
});
const Dashboard = z.looseObject({ uid: z.literal('signalbox'), panels: z.array(Panel) });

const { panels } = Dashboard.parse(
  JSON.parse(readFileSync('deploy/grafana/signalbox.json', 'utf8')),
);
const onDashboard = panels.flatMap(({ targets }) => targets.map(({ expr }) => expr));
const expressions = [...[...RULES, ...RECORDS].map(({ expr }) => expr), ...onDashboard];

async function ours(): Promise<readonly string[]> {
  const slackLimits = new Map([['users.info', 100]]);
  const { text } = createMetrics({ version: '1.0.0', messageKinds: [], slackLimits });
  const told = await text({ ...HEALTHY, gauges: async () => GAUGES }, NOON);
  return [...told.matchAll(/^# TYPE (signalbox_\w+) /gm)].map(([, name = '']) => name);
}

/** The metrics in an expression, or null where it cannot be read. */
function metricsIn(expr: string): readonly string[] | null {
  const names: string[] = [];
  let isBroken = false;
  // Grafana puts a duration there before it asks.
  const text = expr.replaceAll('$__rate_interval', '5m');
  parser.parse(text).iterate({
    enter: ({ type, name, from, to }) => {
      isBroken ||= type.isError;
      if (name === 'Identifier') names.push(text.slice(from, to));
    },
  });
  return isBroken ? null : names.filter((name) => name.startsWith('signalbox_'));
}

function base(name: string): string {
  return name.replace(/_(bucket|count|sum)$/, '');
}

test.for(expressions)('Prometheus can read %s', (expr) => {
  expect(metricsIn(expr)).not.toBeNull();
});

test('an expression that cannot be read is noticed', () => {
  expect(metricsIn('rate(signalbox_ack_seconds_bucket[5m]')).toBeNull();
  expect(metricsIn('max(signalbox_nothing) > 0')).toEqual(['signalbox_nothing']);
});

test('every number that is asked for is one that Signalbox tells', async () => {
  const known = await ours();
  const asked = expressions.flatMap((expr) => metricsIn(expr) ?? []).map(base);
  expect(asked.filter((name) => !known.includes(name))).toEqual([]);
});

test('every number that Signalbox tells is on the dashboard', async () => {
  const shown = new Set(onDashboard.flatMap((expr) => metricsIn(expr) ?? []).map(base));
  expect((await ours()).filter((name) => !shown.has(name))).toEqual([]);
});

test('each alert links to its section of the operating page, which says what to do', () => {
  const alerts = RULES.map(({ alert }) => alert);
  const links = RULES.map(({ annotations }) => annotations.runbook);
  expect(links).toEqual(alerts.map((name) => `docs/operating.md#${name.toLowerCase()}`));
  const page = readFileSync('docs/operating.md', 'utf8');
  const [, section = ''] = page.match(/\n## Alerts\n([\s\S]*?)\n## /) ?? [];
  const parts = section.split('\n### ').slice(1);
  expect(parts.map((part) => part.split('\n')[0]).toSorted()).toEqual(alerts.toSorted());
  expect(parts.filter((part) => part.split(/\s+/).length < 8)).toEqual([]);
});

test('no panel covers another', () => {
  const cells = panels.flatMap(({ gridPos: { x, y, w, h } }) =>
    Array.from({ length: w * h }, (_, n) => `${x + (n % w)},${y + Math.floor(n / w)}`),
  );
  expect(new Set(cells).size).toBe(cells.length);
  expect(new Set(panels.map(({ id }) => id)).size).toBe(panels.length);
});
