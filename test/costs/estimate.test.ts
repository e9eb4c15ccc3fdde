import { expect, test } from 'vitest';
import type { EstimatedKind } from '../../src/costs/estimate.ts';
import {
  type EstimateInput,
  estimate,
  estimateText,
  historySpan,
} from '../../src/costs/estimate.ts';
import type { Plan } from '../../src/domain/change.ts';
import type { Service } from '../../src/domain/targets.ts';
import type { PriceList } from '../../src/maths/money.ts';
import { NOON, PLAN } from '../domain/changes-fixtures.ts';
import { daily, row, TODAY, warehouseRow } from '../maths/rows.ts';
import { costService } from './facts.ts';

const SEEN = new Date('2026-11-01T12:00:00Z');
const SIZE = { minReplicaMemoryGb: 16, maxReplicaMemoryGb: 16, numReplicas: 2, idleScaling: false };
const PLACE = { provider: 'aws', region: 'eu-west-1', tier: 'production' };

function planFor(body: Plan['body'], fields: Plan['body'] | null = null): Plan {
  const before = fields && { fields, seenAt: SEEN, source: 'reply to a scale' };
  return { ...PLAN, target: { ...PLAN.target, id: 's-1' }, body, before };
}

function said(
  kind: EstimatedKind,
  plan: Plan,
  basis: Partial<EstimateInput>,
  prices: PriceList | null = null,
): string {
  const whole = {
    rows: [],
    today: TODAY,
    services: [],
    ranAt: new Map(),
    sizedAt: null,
    ...basis,
  };
  const known = estimate(kind, plan, whole);
  if (!known.known) return known.why;
  return estimateText(kind, known.effect, { prices, today: TODAY, hours: null }).text;
}

/** Twenty days, the last of them the day before yesterday, of a tenth more and a tenth less. */
const USUAL = Array.from({ length: 20 }, (_, index) => [18, 20, 22][index % 3] ?? 20);
const compute = daily('2026-10-30', USUAL);
const OTHER = { entityId: 's-2' };
const PIPE = { entityId: 'p-1', serviceId: 's-1', kind: 'pipe' } as const;
const storage = daily('2026-10-30', USUAL, warehouseRow({ credits: 3.6 }));

test('with a price, an estimate is shown in money as well', () => {
  const prices = [{ from: '2026-01-01', currency: 'EUR', perCredit: 320_000 }];
  const stop = planFor({ command: 'stop' });
  expect(said('stop', stop, { rows: compute }, prices)).toBe(
    '−19.9 credits (−€6.36) per day, from 14 days; storage continues',
  );
});

test('days that differ much are named by what they cost', () => {
  const weeks = daily(
    '2026-09-28',
    [5, 5, 5, 5, 5, 1, 1]
      .map((one) => one * 10)
      .concat(...Array.from({ length: 6 }, () => [50, 50, 50, 50, 50, 10, 10])),
  );
  expect(said('stop', planFor({ command: 'stop' }), { rows: weeks })).toBe(
    '−38.6 credits per day (−10.0 on quiet days, −50.0 on busy days), from 14 days; storage continues',
  );
});

test('a stop saves the compute of pipes too, and a scale does not', () => {
  const pipes = daily('2026-10-30', Array(20).fill(20), PIPE);
  const rows = [...daily('2026-10-30', Array(20).fill(20)), ...pipes];
  expect(said('stop', planFor({ command: 'stop' }), { rows })).toContain('−40.');
  const plan = planFor({ numReplicas: 1 }, SIZE);
  expect(said('scale', plan, { rows })).toContain('−10.0 credits per day, from 14 days');
});

test('between two fixed sizes the usual days are scaled', () => {
  const plan = planFor({ minReplicaMemoryGb: 8, maxReplicaMemoryGb: 8 }, SIZE);
  expect(said('scale', plan, { rows: compute })).toMatchInlineSnapshot(
    `"−9.9 credits per day, from 14 days and both sizes"`,
  );
  const more = planFor({ minReplicaMemoryGb: 32, maxReplicaMemoryGb: 32 }, SIZE);
  expect(said('scale', more, { rows: compute })).toContain('+19.9');
});

test.for<[string, EstimatedKind, Plan, Partial<EstimateInput>, string]>([
  [
    'no reply has shown the size',
    'scale',
    planFor({ maxReplicaMemoryGb: 64 }),
    { rows: compute },
    'Signalbox learns the size from the first change of this service',
  ],
  [
    'a change without a reply ran after the last known size',
    'scale',
    planFor({ minReplicaMemoryGb: 8, maxReplicaMemoryGb: 8 }, SIZE),
    { rows: compute, ranAt: new Map([['s-1', NOON]]) },
    'Signalbox learns the size from the first change of this service',
  ],
  [
    'the size was changed a few days ago',
    'scale',
    planFor({ minReplicaMemoryGb: 8, maxReplicaMemoryGb: 8 }, SIZE),
    { rows: compute, sizedAt: new Date('2026-11-13T10:00:00Z') },
    'needs 7 days with known costs at one size',
  ],
  [
    'the price of a GB-hour is unknown',
    'scale',
    planFor({ maxReplicaMemoryGb: 64 }, SIZE),
    { rows: compute },
    'needs 3 final days at a fixed size without idling',
  ],
  [
    'only the idle timeout changes',
    'scale',
    planFor({ idleTimeoutMinutes: 5 }, SIZE),
    { rows: compute },
    'depends on how often the service is idle',
  ],
  [
    'the service is five days old',
    'stop',
    planFor({ command: 'stop' }),
    { rows: daily('2026-11-13', [20, 20, 20, 20, 20]).concat(row(OTHER)) },
    'needs 7 days with known costs at one size',
  ],
  [
    'the usage report does not contain the service',
    'stop',
    planFor({ command: 'stop' }),
    { rows: daily('2026-10-30', USUAL, OTHER) },
    'the usage report has no costs of this service yet',
  ],
  [
    'the service was always stopped',
    'start',
    planFor({ command: 'start' }),
    { rows: storage },
    'needs 7 days with known costs at one size',
  ],
])('the estimate is unknown where %s', ([, kind, plan, basis, words]) => {
  expect(said(kind, plan, basis)).toBe(words);
});

test('a start costs as much as the days on which the service ran', () => {
  const stopped = daily('2026-10-30', [...USUAL.slice(6), 0, 0, 0, 0, 0, 0]);
  const text = said('start', planFor({ command: 'start' }), { rows: stopped });
  expect(text).toMatchInlineSnapshot(`"+19.8 credits per day, from 14 days"`);
});

function service(id: string, over: Partial<Service> = {}): Service {
  const lastSeen = { fields: { ...SIZE, ...PLACE }, seenAt: SEEN, source: 'reply to a scale' };
  return costService(id, { tags: null, lastSeen, ...over });
}

test('a size range is priced by fixed-size services of the same region and provider', () => {
  // 24 hours · 2 replicas · 16 GB at 0.02 credits are 15.36 a day.
  const other = daily('2026-10-30', Array(20).fill(15.36), OTHER);
  const plan = planFor({ maxReplicaMemoryGb: 32 }, { ...SIZE, ...PLACE });
  const basis = { rows: [...compute, ...other], services: [service('s-2')] };
  expect(said('scale', plan, basis)).toMatchInlineSnapshot(
    `"±0 credits per day (−4.5 to +10.8), from 14 days and the size limits; autoscaling decides"`,
  );

  const elsewhere = { ...SIZE, ...PLACE, region: 'us-east-1' };
  const far = service('s-2', { lastSeen: { fields: elsewhere, seenAt: SEEN, source: 'reply' } });
  expect(said('scale', plan, { ...basis, services: [far] })).toContain(
    '3 final days at a fixed size',
  );
  const moved = new Map([['s-2', NOON]]);
  expect(said('scale', plan, { ...basis, ranAt: moved })).toContain('3 final days at a fixed size');
});

test('days before the size was known do not affect the price', () => {
  const other = daily('2026-10-30', Array(20).fill(15.36), OTHER);
  const fields = { ...SIZE, ...PLACE };
  const late = { fields, seenAt: new Date('2026-11-16T12:00:00Z'), source: 'reply' };
  const plan = planFor({ maxReplicaMemoryGb: 32 }, fields);
  const basis = { rows: [...compute, ...other], services: [service('s-2', { lastSeen: late })] };
  expect(said('scale', plan, basis)).toContain('3 final days at a fixed size');
});

test('the history has full weeks before the days that are not final', () => {
  expect(historySpan(TODAY)).toEqual({ first: '2026-09-11', last: '2026-11-19' });
});
