import { expect, test } from 'vitest';
import { lastCostChanges, lastResize, lastTimes } from '../../src/costs/estimate.ts';
import type { Change } from '../../src/domain/change.ts';
import type { WorkflowContext } from '../../src/workflow/old/ports.ts';
import { aChange, ana, stored } from '../storage/example-change.ts';
import { createTestContext } from '../workflow/context.ts';

const ENDED = { tookMs: 800, requestId: null };
const FIRST = '2026-08-10';
const { target } = aChange().plan;

const tenOClock = (day: string) => new Date(`${day}T10:00:00Z`);

/** A change that the server accepted on this day. */
function accepted(day: string, change: Change = aChange()): Change {
  const ending = { how: 'succeeded', at: tenOClock(day), ...ENDED, reported: [] } as const;
  return { ...change, state: 'succeeded', outcome: ending };
}

/** A change whose request had no definite answer on this day. */
function unknownSince(day: string): Change {
  const answer = { status: 502, text: 'bad gateway' };
  const ending = { how: 'unknown', at: tenOClock(day), ...ENDED, ...answer } as const;
  return aChange({ state: 'unknown', outcome: ending });
}

/** A scale of the service with these fields in its body. */
function scale(day: string, body: Change['plan']['body']): Change {
  const change = accepted(day);
  return { ...change, command: 'service scale', plan: { ...change.plan, body } };
}

async function contextWith(...changes: readonly Change[]): Promise<WorkflowContext> {
  const { context } = await createTestContext();
  await stored(context.database, ...changes);
  return context;
}

async function timesIn({ database, commands }: WorkflowContext) {
  const found = await lastCostChanges(database.db, FIRST, commands);
  return found.map(({ at }) => at);
}

test('a change that was resolved days later counts from the time it was sent', async () => {
  const resolution = { by: ana, at: tenOClock('2026-08-20'), happened: true, note: 'seen' };
  const context = await contextWith({ ...accepted('2026-08-12'), resolution });
  expect(await timesIn(context)).toEqual([tenOClock('2026-08-12')]);
});

test('of many changes of a target, only the last two are read', async () => {
  const days = ['2026-08-12', '2026-08-15', '2026-08-13', '2026-08-14'];
  const context = await contextWith(...days.map((day) => accepted(day)));
  expect(await timesIn(context)).toEqual(['2026-08-15', '2026-08-14'].map(tenOClock));
});

test('changes of other targets, and those before the first day, are apart', async () => {
  const { plan, ...rest } = accepted('2026-08-12');
  const other = { ...rest, plan: { ...plan, target: { ...plan.target, id: 'another' } } };
  const alert = {
    ...aChange(),
    plan: { ...plan, target: { ...plan.target, kind: 'alert', id: 'a-1' } },
  } as const;
  const context = await contextWith(
    accepted('2026-08-09'),
    other,
    accepted('2026-08-14', alert),
    accepted('2026-08-13'),
  );
  const found = await lastCostChanges(context.database.db, FIRST, context.commands);
  expect(lastTimes(found)).toEqual(
    new Map([
      ['another', tenOClock('2026-08-12')],
      [target.id, tenOClock('2026-08-13')],
    ]),
  );
});

test('an unknown outcome may have affected costs, and an endpoint has not', async () => {
  const endpoint = accepted('2026-08-14', aChange({ command: 'endpoint create' }));
  const context = await contextWith(
    accepted('2026-08-12'),
    unknownSince('2026-08-13'),
    endpoint,
    aChange(),
  );
  const found = await lastCostChanges(context.database.db, FIRST, context.commands);
  expect(lastTimes(found)).toEqual(new Map([[target.id, tenOClock('2026-08-13')]]));
});

test('a target without a cost change has none', async () => {
  const context = await contextWith(aChange());
  expect(await timesIn(context)).toEqual([]);
});

test('the last resize is found on a later page, after changes of the idle timeout only', async () => {
  const others = Array.from({ length: 25 }, () => scale('2026-08-13', { idleTimeoutMinutes: 10 }));
  const context = await contextWith(
    scale('2026-08-11', { maxReplicaMemoryGb: 64 }),
    scale('2026-08-12', { maxReplicaMemoryGb: 32 }),
    ...others,
  );
  const { database, commands } = context;
  expect(await lastResize(database.db, FIRST, target, commands)).toEqual(tenOClock('2026-08-12'));
  expect(await lastResize(database.db, '2026-08-13', target, commands)).toBeNull();
});
