import { globSync } from 'node:fs';
import { expect, test } from 'vitest';
import { ROOMS } from '../rooms.ts';
import { readPage } from './pages.ts';

test('the table of rooms in CONTRIBUTING.md equals the rules that are enforced', () => {
  const rows = [
    ...readPage('CONTRIBUTING.md').matchAll(/^\| \[?`([^`]+)`\S* \| [^|]+ \| ([^|]+) \|$/gm),
  ];
  const documented = rows.map(([, room = '', uses = '']) => {
    return [room, uses === 'nothing' ? [] : uses.split(', ')] as const;
  });
  const enforced = Object.entries(ROOMS).filter(([room]) => room !== 'app');
  expect(documented).toEqual(enforced.map(([room, { imports }]) => [room, imports.toSorted()]));
});

test.for(globSync('src/*/'))('%s has a README of at most 15 lines', (room) => {
  expect(readPage(`${room}/README.md`).trimEnd().split('\n').length).toBeLessThanOrEqual(15);
});
