import { expect, test } from 'vitest';
import type { Change } from '../../src/changes/change.ts';
import { changesMade, lastMoved } from '../../src/workflow/effect-changes.ts';
import { aChange, ana, aPost, elsewhere, stored } from '../storage/example-change.ts';
import { aWorld } from './world.ts';

const ENDED = { tookMs: 800, requestId: null };

/** A change that the server accepted on this day. */
function accepted(day: string, change: Change = aChange()): Change {
  const at = new Date(`${day}T10:00:00Z`);
  const ending = { how: 'succeeded', at, ...ENDED, reported: [] } as const;
  return { ...change, state: 'succeeded', ending };
}

const AUGUST = { first: '2026-08-10', last: '2026-08-14' };

test('what was made on the days of a rise is named, for the services that rose', async () => {
  const { world } = await aWorld();
  const mine = accepted('2026-08-10');
  const other = accepted('2026-08-14', elsewhere());
  const early = accepted('2026-08-09');
  const late = accepted('2026-08-15');
  await stored(
    world.database,
    mine,
    other,
    early,
    late,
    aChange(),
    accepted('2026-08-12', aPost()),
  );

  const made = await changesMade(world.database.db, AUGUST);
  expect(made.map(({ id }) => id).toSorted()).toEqual([mine.id, other.id].toSorted());
  const { target } = mine.plan;
  expect(await changesMade(world.database.db, { ...AUGUST, services: [target.id] })).toEqual([
    {
      day: '2026-08-10',
      command: 'service scale',
      service: { id: target.id, name: 'staging' },
      id: mine.id,
      requester: ana,
    },
  ]);
});

test('a change that was looked up days later counts for the day it was tried', async () => {
  const { world } = await aWorld();
  const at = new Date('2026-08-20T10:00:00Z');
  const resolution = { by: ana, at, happened: true, note: 'seen in the console' };
  await stored(world.database, { ...accepted('2026-08-12'), resolution });
  const made = await changesMade(world.database.db, AUGUST);
  expect(made.map(({ day }) => day)).toEqual(['2026-08-12']);
});

test('more changes than fit on a page are all looked at', async () => {
  const { world } = await aWorld();
  const many = Array.from({ length: 201 }, () => accepted('2026-08-12'));
  await stored(world.database, ...many);
  expect(await changesMade(world.database.db, AUGUST)).toHaveLength(201);
});

test('one in doubt may have moved the size, and one that leaves costs alone has not', async () => {
  const { world } = await aWorld();
  const at = new Date('2026-08-13T10:00:00Z');
  const doubt = { how: 'unknown', at, ...ENDED, status: 502, text: 'bad gateway' } as const;
  const unknown = aChange({ state: 'unknown', ending: doubt });
  const endpoint = accepted('2026-08-14', aChange({ command: 'endpoint create' }));
  await stored(world.database, accepted('2026-08-12'), unknown, endpoint);
  const { ranAt } = await lastMoved(world.database.db, AUGUST.first, world.commands);
  expect([...ranAt]).toEqual([[unknown.plan.target.id, at]]);
});
