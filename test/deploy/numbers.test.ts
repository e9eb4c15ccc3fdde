import { readFileSync } from 'node:fs';
import { parser } from '@prometheus-io/lezer-promql';
import { expect, test } from 'vitest';
import { parse } from 'yaml';
import { z } from 'zod';
import { createMetrics } from '../../src/observability/metrics.ts';
import { NOON } from '../storage/example-change.ts';

const Rule = z.strictObject({
  alert: z.string().startsWith('Signalbox'),
  expr: z.string(),
  for: z.string().optional(),
  labels: z.strictObject({ severity: z.enum(['page', 'ticket']) }),
  annotations: z.strictObject({ summary: z.string(), runbook: z.string() }),
});
const Alerts = z.strictObject({
  groups: z.tuple([z.strictObject({ name: z.string(), rules: z.array(Rule) })]),
});
const Panel = z.looseObject({
  id: z.number(),
  title: z.string(),
  gridPos: z.strictObject({ x: z.number(), y: z.number(), w: z.number(), h: z.number() }),
  targets: z.array(z.looseObject({ expr: z.string() })).min(1),
});
const Dashboard = z.looseObject({ uid: z.literal('signalbox'), panels: z.array(Panel) });

const [{ rules }] = Alerts.parse(
  parse(readFileSync('deploy/prometheus/alerts.yaml', 'utf8')),
).groups;
const { panels } = Dashboard.parse(
  JSON.parse(readFileSync('deploy/grafana/signalbox.json', 'utf8')),
);
const onDashboard = panels.flatMap(({ targets }) => targets.map(({ expr }) => expr));
const expressions = [...rules.map(({ expr }) => expr), ...onDashboard];

async function told(): Promise<string> {
  const none = { count: 0, since: null };
  const levels = async () => ({
    changes: new Map([['unknown' as const, none]]),
    outbox: none,
    inbox: none,
    digests: new Map([['missed', 0]]),
    trailProblem: null,
    isOutdated: false,
  });
  return createMetrics({ version: '1.0.0' }).text(levels, NOON);
}

async function ours(): Promise<readonly string[]> {
  return [...(await told()).matchAll(/^# TYPE (signalbox_\w+) /gm)].map(([, name = '']) => name);
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

const PROMISED = [
  'SignalboxDown',
  'SignalboxDatabaseUnreadable',
  'SignalboxOutcomeUnknown',
  'SignalboxTrailBroken',
  'SignalboxConfigOutdated',
  'SignalboxApprovalsWaiting',
  'SignalboxOutboxStuck',
  'SignalboxMessageLost',
  'SignalboxInboxStuck',
  'SignalboxLookupsFailing',
  'SignalboxAcksSlow',
  'SignalboxDigestMissed',
];

test('each alert says what to do, where the operator reads it', () => {
  expect(rules.map(({ alert }) => alert)).toEqual(PROMISED);
  const links = rules.map(({ annotations }) => annotations.runbook);
  expect(links).toEqual(PROMISED.map((name) => `docs/operating.md#${name.toLowerCase()}`));
  const headings = [...readFileSync('docs/operating.md', 'utf8').matchAll(/^### (\w+)$/gm)];
  expect(headings.map(([, heading]) => heading)).toEqual(expect.arrayContaining(PROMISED));
});

test('no panel covers another', () => {
  const cells = panels.flatMap(({ gridPos: { x, y, w, h } }) =>
    Array.from({ length: w * h }, (_, n) => `${x + (n % w)},${y + Math.floor(n / w)}`),
  );
  expect(new Set(cells).size).toBe(cells.length);
  expect(new Set(panels.map(({ id }) => id)).size).toBe(panels.length);
});
