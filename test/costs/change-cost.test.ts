import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { createCostEstimator } from '../../src/costs/estimate.ts';
import type { Plan } from '../../src/domain/change.ts';
import type { CostReading } from '../../src/maths/report.ts';
import { PLAN } from '../domain/changes-fixtures.ts';
import { daily } from '../maths/rows.ts';
import { createTestContext } from '../workflow/context.ts';

const TODAY = new Date('2026-11-20T12:00:00Z');
const STOP: Plan = { ...PLAN, target: { ...PLAN.target, id: 's-1' } };
const rows = daily('2026-10-30', Array(20).fill(20));
const whole: CostReading = { rows, fetchedAt: TODAY, problems: [], gaps: [] };
const why = 'no answer';

/** A context in which the report says this and nothing else can be reached. */
async function costTextOf(
  costs: () => Promise<CostReading>,
  effect?: 'stop' | 'create' | 'schedule',
  body: Plan['body'] = STOP.body,
) {
  const { context, clock } = await createTestContext();
  clock.now = TODAY;
  const estimate = createCostEstimator({ ...context, services: () => [], costs });
  return estimate(effect ? { effect } : {}, { ...STOP, body });
}

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
});
afterEach(() => {
  vi.useRealTimers();
});

test('an estimate has its figures, for a comparison with the measurement', async () => {
  expect(await costTextOf(async () => whole, 'stop')).toEqual({
    text: '−20.0 credits per day, from 14 days; storage continues',
    summary: {
      perDay: '−20.0 credits per day',
      withRange: '−20.0 credits per day · storage continues',
    },
    perDay: -20,
    share: -1,
  });
});

test('a preview waits at most two seconds for the usage report', async () => {
  let asked = false;
  const never = () => {
    asked = true;
    return new Promise<CostReading>(() => {});
  };
  const answer = costTextOf(never, 'stop');
  await expect.poll(() => asked).toBe(true);
  await vi.advanceTimersByTimeAsync(2_000);
  expect(await answer).toMatchObject({ text: 'not available: the usage report could not be read' });
});

const from = new Date('2026-11-20T06:30:00Z');
const stale = { month: '2026-11', why, denied: false, from };
const missing = { month: '2026-10', why, denied: false, from: null };

test.for<[string, () => Promise<CostReading>]>([
  ['a failed usage report', () => Promise.reject(new Error('broken'))],
  ['a report of which only a copy can be read', async () => ({ ...whole, gaps: [stale] })],
  ['missing months', async () => ({ ...whole, rows: rows.slice(-3), gaps: [missing] })],
])('%s is the reason of no estimate, and does not fail the request', async ([, costs]) => {
  expect(await costTextOf(costs, 'stop')).toMatchObject({
    text: 'not available: the usage report could not be read',
    perDay: null,
  });
});

test('the cost of a new service is unknown, and an alert has no cost', async () => {
  const unread = () => Promise.reject(new Error('not asked'));
  expect((await costTextOf(unread, 'create'))?.text).toBe('not available: depends on the load');
  expect(await costTextOf(unread)).toBeUndefined();
});

const SAVES = '−70.0 credits per week, from 14 days; stopped 84 of 168 h; storage continues';
const STAYS = 'not available: without a start, the service stays stopped';
const NIGHTS = { stop: 'daily 20:00', start: 'daily 08:00', zone: 'UTC' };

test.for<[string, Plan['body'], string]>([
  ['with stops and starts', NIGHTS, SAVES],
  ['without a stop', { ...NIGHTS, stop: null }, 'not available: the schedule has no stop'],
  ['without a start', { ...NIGHTS, start: null }, STAYS],
])('a schedule %s has its saving per week, or the reason why not', async ([, body, text]) => {
  const cost = await costTextOf(async () => whole, 'schedule', body);
  const week = '−70.0 credits per week';
  const summary = { perDay: week, withRange: `${week} · storage continues` };
  const isKnown = text.startsWith(week);
  expect(cost).toEqual({ text, perDay: null, share: null, ...(isKnown && { summary }) });
});

test('the saving of a schedule is not available without enough days', async () => {
  const few = async () => ({ ...whole, rows: rows.slice(-4) });
  expect(await costTextOf(few, 'schedule', NIGHTS)).toMatchObject({
    text: 'not available: needs 7 days with known costs at one size',
  });
});

test('the saving of a schedule has the money', async () => {
  const uneven = daily(
    '2026-10-30',
    Array.from({ length: 20 }, (_, day) => 20 + (day % 4)),
  );
  const prices = [{ from: '2026-01-01', perCredit: 500_000, currency: 'EUR' }];
  const { context, clock } = await createTestContext();
  clock.now = TODAY;
  const costs = async () => ({ ...whole, rows: uneven });
  const estimate = createCostEstimator({ ...context, services: () => [], prices, costs });
  const { text } = (await estimate({ effect: 'schedule' }, { ...STOP, body: NIGHTS })) ?? {};
  expect(text).toMatch(/^−[\d.]+ credits \(−€[\d.]+\) per week, from 14/);
});
