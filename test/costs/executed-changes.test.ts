import { expect, test } from 'vitest';
import { lastCostChanges, lastResize, lastTimes } from '../../src/costs/estimate.ts';
import { ana, type Example, moved, PLAN } from '../workflow/context.ts';
import { contextWith } from './sent-changes.ts';

const FIRST = '2026-08-10';
const { target } = PLAN;

const tenOClock = (day: string) => new Date(`${day}T10:00:00Z`);

/** A change that the server accepted on this day. */
function accepted(day: string, over: Example = {}): Example {
  return { answeredAt: tenOClock(day), ...over };
}

/** A scale of the service with these fields in its body. */
function scale(day: string, body: typeof PLAN.body): Example {
  return accepted(day, { plan: { body } });
}

async function timesIn(context: Parameters<typeof lastCostChanges>[0]) {
  return (await lastCostChanges(context, target)).map(({ outcome }) => outcome?.at);
}

test('a change that was resolved days later counts from the time it was sent', async () => {
  const { context, clock, changes } = await contextWith(
    accepted('2026-08-12', { state: 'unknown' }),
  );
  clock.now = tenOClock('2026-08-20');
  const [change = expect.fail('there is no change')] = changes;
  await moved(context, change.id, { type: 'resolved', by: ana, as: 'succeeded', note: 'seen' });
  expect(await timesIn(context)).toEqual([tenOClock('2026-08-12')]);
});

test('of many changes of a target, only the last two are read', async () => {
  const days = ['2026-08-12', '2026-08-15', '2026-08-13', '2026-08-14'];
  const { context } = await contextWith(...days.map((day) => accepted(day)));
  expect(await timesIn(context)).toEqual(['2026-08-15', '2026-08-14'].map(tenOClock));
});

test('changes of other targets, and those before the first day, are apart', async () => {
  const alert = { ...target, kind: 'alert', id: 'a-1' } as const;
  const { context } = await contextWith(
    accepted('2026-08-09'),
    accepted('2026-08-12', { plan: { target: { ...target, id: 'another/one' } } }),
    accepted('2026-08-14', { plan: { target: alert } }),
    accepted('2026-08-13'),
  );
  expect(await lastTimes(context, FIRST)).toEqual(
    new Map([
      ['another/one', tenOClock('2026-08-12')],
      [target.id, tenOClock('2026-08-13')],
    ]),
  );
});

test('an unknown outcome may have affected costs, and an endpoint has not', async () => {
  const { context } = await contextWith(
    accepted('2026-08-12'),
    accepted('2026-08-13', { state: 'unknown' }),
    accepted('2026-08-14', { command: 'endpoint create' }),
    { state: 'pending' },
  );
  expect(await lastTimes(context, FIRST)).toEqual(new Map([[target.id, tenOClock('2026-08-13')]]));
});

test('a target without a cost change has none', async () => {
  const { context } = await contextWith({ state: 'pending' });
  expect(await timesIn(context)).toEqual([]);
});

test('the last resize is found on a later page, after changes of the idle timeout only', async () => {
  const others = Array.from({ length: 25 }, () => scale('2026-08-13', { idleTimeoutMinutes: 10 }));
  const { context } = await contextWith(
    scale('2026-08-11', { maxReplicaMemoryGb: 64 }),
    scale('2026-08-12', { maxReplicaMemoryGb: 32 }),
    ...others,
  );
  expect(await lastResize(context, FIRST, target)).toEqual(tenOClock('2026-08-12'));
  expect(await lastResize(context, '2026-08-13', target)).toBeNull();
});
