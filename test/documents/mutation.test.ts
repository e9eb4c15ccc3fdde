import { globSync } from 'node:fs';
import { expect, test } from 'vitest';
import { chosenRoom, MUTATED_ROOMS } from '../mutation-rooms.ts';
import { groupsOf, readPage } from './pages.ts';

test.for(Object.entries(MUTATED_ROOMS))(
  'each pattern of the mutated room %s has files',
  ([, room]) => {
    const patterns = [room.mutate, room.tests, room.without ?? [], room.setup ?? []].flat();
    expect(patterns.filter((pattern) => globSync(pattern).length === 0)).toEqual([]);
  },
);

test('the page of the mutation tests has a row for each room', () => {
  const named = groupsOf(readPage('docs/bench.md'), /^\| `ROOM=(\w+) npm run mutate` \|/gm);
  expect(named).toEqual(Object.keys(MUTATED_ROOMS));
});

test('an unknown room is refused', () => {
  expect(() => chosenRoom('logs')).toThrow('these rooms: domain, workflow, log');
});
