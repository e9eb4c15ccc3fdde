import { expect, test } from 'vitest';
import type { Span } from '../../src/base/calendar.ts';
import { createEffectMeasurement } from '../../src/costs/measured-effect.ts';
import type { CostReading } from '../../src/maths/report.ts';
import { daily } from '../maths/rows.ts';
import { type Example, PLAN } from '../workflow/context.ts';
import { contextWith, minutesLater as minutes, REQUESTED } from './sent-changes.ts';

const DAY = 24 * 60;
const SERVICE = '11111111-1111-4111-8111-111111111111';

// Twenty credits per day until 14 August, and ten from then on; all of it final.
const level = (day: number) => (day < 20 ? 20 : 10) * ([0.95, 1, 1.05][day % 3] ?? 1);
const levels = Array.from({ length: 45 }, (_, day) => level(day));
const rows = daily('2026-07-25', levels, { entityId: SERVICE });
const whole: CostReading = { rows, fetchedAt: REQUESTED, problems: [], gaps: [] };
const unread = () => Promise.reject(new Error('unexpected read'));

interface World {
  /** Days since noon of the change. */
  readonly days: number;
  /** The stored changes; the first one is measured. */
  readonly changes: readonly [Example, ...Example[]];
  readonly costs?: (span: Span) => Promise<CostReading>;
}

async function measured({ days, changes, costs = async () => whole }: World) {
  const { context, clock, changes: stored } = await contextWith(...changes);
  const [first] = stored;
  if (!first) throw new Error('There is no change');
  clock.now = minutes(days * DAY);
  return createEffectMeasurement({ ...context, costs })(first);
}

const SCALED: Example = {};
const unknownAt = (answeredAt: Date): Example => ({ state: 'unknown', answeredAt });
const scaledAt = (answeredAt: Date, over: Example = {}): Example => ({ answeredAt, ...over });

test.for<[number, number]>([
  [4, 3],
  [7, 6],
  [8, 7],
  [400, 7],
])('after %i days the effect of %i days is shown', async ([days, shown]) => {
  const text = await measured({ days, changes: [SCALED] });
  expect(text).toMatch(
    new RegExp(`^${shown} days later: compute [\\d.]+ → [\\d.]+ per day \\(−5\\d ?%`),
  );
});

test('after three days no effect is shown: the third one is not over', async () => {
  expect(await measured({ days: 3, changes: [SCALED] })).toBeNull();
});

test('only the days that are over are read', async () => {
  const spans: Span[] = [];
  const costs = async (span: Span) => {
    spans.push(span);
    return whole;
  };
  await measured({ days: 4, changes: [SCALED], costs });
  await measured({ days: 30, changes: [SCALED], costs });
  expect(spans.map(({ last }) => last)).toEqual(['2026-08-17', '2026-08-21']);
});

test('nothing is measured while a month is not stored', async () => {
  const gaps = [{ month: '2026-07', why: 'not read yet', denied: false, from: null }];
  const costs = async () => ({ ...whole, gaps });
  expect(await measured({ days: 9, changes: [SCALED], costs })).toBeNull();
});

test('days with an earlier change are not used as the state before', async () => {
  const changes = [SCALED, scaledAt(minutes(-5 * DAY))] as const;
  expect(await measured({ days: 9, changes })).toBeNull();
});

test.for<[string, Example]>([
  ['has an unknown outcome', unknownAt(REQUESTED)],
  ['is of a service, but of no size', { command: 'endpoint create' }],
  ['failed', { state: 'failed' }],
])('a change that %s is not measured', async ([, change]) => {
  expect(await measured({ days: 9, changes: [change], costs: unread })).toBeNull();
});

test('a change that another one followed is not measured, also with an unknown outcome', async () => {
  for (const next of [scaledAt(minutes(DAY)), unknownAt(minutes(DAY))]) {
    const changes = [SCALED, next] as const;
    expect(await measured({ days: 9, changes, costs: unread })).toBeNull();
  }
});

test('a private endpoint does not affect the measurement', async () => {
  const changes = [SCALED, scaledAt(minutes(DAY), { command: 'endpoint create' })] as const;
  expect(await measured({ days: 9, changes })).toContain('7 days later');
});

test('a measurement is shown with the estimate', async () => {
  const cost = { text: '−9.6 credits per day', perDay: -9.6, share: -0.48 };
  const change: Example = { plan: { ...PLAN, cost } };
  expect(await measured({ days: 4, changes: [change] })).toContain('; estimate −48%.');
});
