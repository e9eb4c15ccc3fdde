import { globSync } from 'node:fs';
import { expect, test } from 'vitest';
import { MAY_IMPORT } from '../rooms.ts';
import { groupsOf, readPage } from './pages.ts';

/** The rooms of CONTRIBUTING.md, each with the rooms that it may use. */
function rows(): ReadonlyMap<string, readonly string[]> {
  const cells = [...readPage('CONTRIBUTING.md').matchAll(/^\| (`[^|]+) \| [^|]+ \| ([^|]+) \|$/gm)];
  const own = (uses: string) => (uses === 'nothing' ? [] : uses.split(', '));
  return new Map(
    cells.flatMap(([, rooms = '', uses = '']) =>
      groupsOf(rooms, /`([^`]+)`/g).map((room) => [room, own(uses)] as const),
    ),
  );
}

test('the table of rooms lists every folder of src', () => {
  const folders = globSync('src/*/').map((folder) => folder.split('/')[1]);
  expect([...rows().keys()].toSorted()).toEqual(folders.toSorted());
});

test('the table of rooms equals the import rules', () => {
  const documented = [...rows()].map(([room, uses]) => [room, uses.toSorted()]);
  const enforced = [...rows().keys()].map((room) => [
    room,
    (MAY_IMPORT[room] ?? []).filter((use) => !use.startsWith('type ')).toSorted(),
  ]);
  expect(documented).toEqual(enforced);
});
