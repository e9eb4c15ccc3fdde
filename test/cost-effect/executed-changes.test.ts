import { expect, test } from 'vitest';
import type { Change } from '../../src/changes/change.ts';
import { executedChanges, lastCostChanges } from '../../src/cost-effect/executed-changes.ts';
import { aChange, ana, stored } from '../storage/example-change.ts';
import { createTestContext } from '../workflow/context.ts';

const ENDED = { tookMs: 800, requestId: null };

/** A change that the server accepted on this day. */
function accepted(day: string, change: Change = aChange()): Change {
  const at = new Date(`${day}T10:00:00Z`);
  const ending = { how: 'succeeded', at, ...ENDED, reported: [] } as const;
  return { ...change, state: 'succeeded', outcome: ending };
}

const FIRST = '2026-08-10';

test('a change that was resolved days later counts from the time it was sent', async () => {
  const { context } = await createTestContext();
  const at = new Date('2026-08-20T10:00:00Z');
  const resolution = { by: ana, at, happened: true, note: 'seen in the console' };
  const change: Change = { ...accepted('2026-08-12'), resolution };
  await stored(context.database, change);
  const { ranAt } = await lastCostChanges(context.database.db, FIRST, context.commands);
  expect([...ranAt.values()]).toEqual([new Date('2026-08-12T10:00:00Z')]);
});

test('changes on all pages are read', async () => {
  const { context } = await createTestContext();
  const many = Array.from({ length: 201 }, () => accepted('2026-08-12'));
  await stored(context.database, ...many, accepted('2026-08-09'), aChange());
  expect(await executedChanges(context.database.db, FIRST, context.commands)).toHaveLength(201);
});

test('an unknown outcome may have affected costs, and an endpoint has not', async () => {
  const { context } = await createTestContext();
  const at = new Date('2026-08-13T10:00:00Z');
  const unknownOutcome = {
    how: 'unknown',
    at,
    ...ENDED,
    status: 502,
    text: 'bad gateway',
  } as const;
  const unknown = aChange({ state: 'unknown', outcome: unknownOutcome });
  const endpoint = accepted('2026-08-14', aChange({ command: 'endpoint create' }));
  await stored(context.database, accepted('2026-08-12'), unknown, endpoint);
  const { ranAt } = await lastCostChanges(context.database.db, FIRST, context.commands);
  expect([...ranAt]).toEqual([[unknown.plan.target.id, at]]);
});
