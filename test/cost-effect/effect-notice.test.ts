import { expect, test } from 'vitest';
import type { Change } from '../../src/changes/change.ts';
import { postCostEffects } from '../../src/cost-effect/effect-notice.ts';
import type { CostReading } from '../../src/costs/ledger/costs-read.ts';
import { claimDueMessages } from '../../src/storage/tables/queues/outbox.ts';
import type { WorkflowContext } from '../../src/workflow/ports.ts';
import { daily } from '../costs/rows.ts';
import { aChange, minutes, NOON, stored } from '../storage/example-change.ts';
import { createTestContext } from '../workflow/context.ts';

const DAY = 24 * 60;
const SERVICE = '11111111-1111-4111-8111-111111111111';
const ENDED = { tookMs: 800, requestId: null };
const WHY = 'no answer';

// Twenty credits per day until 14 August, and ten from then on; all of it final.
const level = (day: number) => (day < 20 ? 20 : 10) * ([0.95, 1, 1.05][day % 3] ?? 1);
const rows = daily(
  '2026-07-25',
  Array.from({ length: 45 }, (_, day) => level(day)),
  {
    entityId: SERVICE,
  },
);
const whole: CostReading = { rows, fetchedAt: NOON, problems: [], gaps: [], lockAge: null };
const costs = async () => whole;
const unread = () => Promise.reject(new Error('unexpected read'));

function scaled(over: Partial<Change> = {}): Change {
  const ending = { how: 'succeeded', at: NOON, ...ENDED, reported: [] } as const;
  return aChange({ state: 'succeeded', outcome: ending, ...over });
}

/** So many days after noon of the change. */
async function worldAfter(days: number, ...changes: readonly Change[]) {
  const { context, clock } = await createTestContext();
  clock.now = minutes(days * DAY);
  await stored(context.database, ...changes);
  return { context, clock };
}

async function waiting({ database, now }: WorkflowContext): Promise<readonly string[]> {
  const lease = { owner: 'tests', now: now(), leaseMs: 60_000, limit: 50 };
  const rows = await database.transaction((tx) => claimDueMessages(tx, lease));
  return rows.map(({ kind, message }) =>
    message?.kind === 'cost-effect' ? `${kind} ${message.text}` : kind,
  );
}

test('of two replicas that measure at the same time, one posts', async () => {
  const { context } = await worldAfter(4, scaled());
  expect(
    await Promise.all([postCostEffects(context, costs), postCostEffects(context, costs)]),
  ).toContain(0);
  expect(await waiting(context)).toEqual([
    expect.stringMatching(
      /^effect:3 3 settled days later: compute [\d.]+ → [\d.]+ per day \(−5\d ?%/,
    ),
  ]);
});

test('after a week of downtime only the longer measurement is posted', async () => {
  const { context } = await worldAfter(9, scaled());
  expect(await postCostEffects(context, costs)).toBe(1);
  expect(await waiting(context)).toEqual([expect.stringContaining('7 settled days later')]);
  expect(await postCostEffects(context, unread)).toBe(0);
});

test('nothing is measured while a month cannot be read', async () => {
  const { context } = await worldAfter(9, scaled());
  const gaps = [{ month: '2026-07', why: WHY, denied: false, from: null }];
  expect(await postCostEffects(context, async () => ({ ...whole, gaps }))).toBe(0);
  expect(await postCostEffects(context, costs)).toBe(1);
});

test('days with an earlier change are not used as the state before', async () => {
  const at = minutes(-5 * DAY);
  const ending = { how: 'succeeded', at, ...ENDED, reported: [] } as const;
  const { context } = await worldAfter(9, scaled(), scaled({ outcome: ending }));
  expect(await postCostEffects(context, costs)).toBe(0);
});

test('a change with an unknown outcome is not measured', async () => {
  const unknownOutcome = {
    how: 'unknown',
    at: NOON,
    ...ENDED,
    status: 502,
    text: 'bad gateway',
  } as const;
  const { context } = await worldAfter(9, aChange({ state: 'unknown', outcome: unknownOutcome }));
  expect(await postCostEffects(context, unread)).toBe(0);
});

test('a change that an unknown outcome followed is not measured', async () => {
  const at = minutes(DAY);
  const unknownOutcome = {
    how: 'unknown',
    at,
    ...ENDED,
    status: 502,
    text: 'bad gateway',
  } as const;
  const { context } = await worldAfter(
    9,
    scaled(),
    aChange({ state: 'unknown', outcome: unknownOutcome }),
  );
  expect(await postCostEffects(context, costs)).toBe(0);
  expect(await waiting(context)).toEqual([]);
});

test('a private endpoint does not affect the measurement', async () => {
  const at = minutes(DAY);
  const ending = { how: 'succeeded', at, ...ENDED, reported: [] } as const;
  const { context } = await worldAfter(
    9,
    scaled(),
    scaled({ command: 'endpoint create', outcome: ending }),
  );
  expect(await postCostEffects(context, costs)).toBe(1);
});

test.for<[number, string]>([
  [3, 'three days were not over'],
  [40, 'its days were never final in time'],
])('after %i days the report is not read: %s', async ([days]) => {
  const { context } = await worldAfter(days, scaled());
  expect(await postCostEffects(context, unread)).toBe(0);
});

test('a measurement is posted with the estimate', async () => {
  const { plan } = aChange();
  const cost = { text: '−9.6 credits per day', perDay: -9.6, share: -0.48 };
  const { context } = await worldAfter(4, scaled({ plan: { ...plan, cost } }));
  await postCostEffects(context, costs);
  expect((await waiting(context)).join()).toContain('; estimate −48%.');
});
