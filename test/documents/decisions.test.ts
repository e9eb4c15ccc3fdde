import { expect, test } from 'vitest';
import packageJson from '../../package.json' with { type: 'json' };
import { groupsOf, readPage } from './pages.ts';

const { dependencies, optionalDependencies, devDependencies } = packageJson;
const PAGE = readPage('docs/decisions.md');
const RUNS = '### What runs';
const DEVELOPS = '### What develops';

/** The packages in the first cell of each table row under one heading. */
function packagesUnder(heading: string): readonly string[] {
  const [, section = ''] = PAGE.split(`${heading}\n`);
  const cells = groupsOf(section.split('\n### ')[0] ?? '', /^\| (`[^|]+) \|/gm);
  return cells.flatMap((cell) => groupsOf(cell, /`([^`]+)`/g));
}

const isListedAs = (name: string, listed: string) =>
  listed === name || (listed === '@types/*' && name.startsWith('@types/'));

test.for<[string, Readonly<Record<string, string>>]>([
  [RUNS, { ...dependencies, ...optionalDependencies }],
  [DEVELOPS, devDependencies],
])('under "%s", the page lists exactly the packages of package.json', ([heading, packages]) => {
  const listed = packagesUnder(heading);
  const names = Object.keys(packages);
  expect(names.filter((name) => !listed.some((each) => isListedAs(name, each)))).toEqual([]);
  expect(listed.filter((each) => !names.some((name) => isListedAs(name, each)))).toEqual([]);
});
