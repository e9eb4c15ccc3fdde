import { globSync } from 'node:fs';
import { expect, test } from 'vitest';
import { MAY } from '../rooms.ts';
import { found, read } from './pages.ts';

/** The rooms of a row, and what it says they may use. */
function rows(): ReadonlyMap<string, readonly string[]> {
  const cells = [...read('CONTRIBUTING.md').matchAll(/^\| (`[^|]+) \| [^|]+ \| ([^|]+) \|$/gm)];
  const own = (uses: string) => (uses === 'nothing' ? [] : uses.split(', '));
  return new Map(
    cells.flatMap(([, rooms = '', uses = '']) =>
      found(rooms, /`([^`]+)`/g).map((room) => [room, own(uses)] as const),
    ),
  );
}

test('the map of the code has every folder of src', () => {
  const folders = globSync('src/*/').map((folder) => folder.split('/')[1]);
  expect([...rows().keys()].toSorted()).toEqual(folders.toSorted());
});

test('the map of the code says what the imports are held to', () => {
  const told = [...rows()].map(([room, uses]) => [room, uses.toSorted()]);
  const held = [...rows().keys()].map((room) => [
    room,
    (MAY[room] ?? []).filter((use) => !use.startsWith('type ')).toSorted(),
  ]);
  expect(told).toEqual(held);
});
