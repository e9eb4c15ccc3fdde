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
  const none = { rows: [], today: TODAY, services: [], ranAt: new Map(), sizedAt: null };
  const whole = { ...none, ...basis };
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
  expect(said('stop', planFor({ command: 'stop' }), { rows: compute }, prices)).toBe(
    '−19.9 credits (−€6.36) per day, from 14 days; storage continues',
  );
});

test('days that differ much are named by what they cost', () => {
  const week = [50, 50, 50, 50, 50, 10, 10];
  const weeks = daily('2026-09-28', Array(7).fill(week).flat());
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

const STOP = planFor({ command: 'stop' });
const SMALLER = planFor({ minReplicaMemoryGb: 8, maxReplicaMemoryGb: 8 }, SIZE);
const LARGER = { maxReplicaMemoryGb: 64 };
const LEARNS = 'Signalbox learns the size from the first change of this service';
const TOO_FEW = 'needs 7 days with known costs at one size';
const PRICELESS = 'needs 3 final days at a fixed size without idling';
const IDLES = planFor({ idleTimeoutMinutes: 5 }, SIZE);
const OFTEN_IDLE = 'depends on how often the service is idle';
const RAN = { rows: compute, ranAt: new Map([['s-1', NOON]]) };
const SIZED = { rows: compute, sizedAt: new Date('2026-11-13T10:00:00Z') };
const FIVE_DAYS = daily('2026-11-13', [20, 20, 20, 20, 20]).concat(row(OTHER));
const OF_OTHERS = daily('2026-10-30', USUAL, OTHER);
const ABSENT = 'the usage report has no costs of this service yet';

test.for<[string, EstimatedKind, Plan, Partial<EstimateInput>, string]>([
  ['no reply has shown the size', 'scale', planFor(LARGER), { rows: compute }, LEARNS],
  ['a change without a reply ran after the last known size', 'scale', SMALLER, RAN, LEARNS],
  ['the size was changed a few days ago', 'scale', SMALLER, SIZED, TOO_FEW],
  ['a GB-hour has no price', 'scale', planFor(LARGER, SIZE), { rows: compute }, PRICELESS],
  ['only the idle timeout changes', 'scale', IDLES, { rows: compute }, OFTEN_IDLE],
  ['the service is five days old', 'stop', STOP, { rows: FIVE_DAYS }, TOO_FEW],
  ['the report does not contain the service', 'stop', STOP, { rows: OF_OTHERS }, ABSENT],
  ['it was always stopped', 'start', planFor({ command: 'start' }), { rows: storage }, TOO_FEW],
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
