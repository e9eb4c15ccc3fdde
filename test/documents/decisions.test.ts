import { basename } from 'node:path';
import { expect, test } from 'vitest';
import packageJson from '../../package.json' with { type: 'json' };
import { DOCUMENTS, groupsOf, readPage } from './pages.ts';

const { dependencies, optionalDependencies, devDependencies } = packageJson;
const INDEX = 'docs/decisions/README.md';
const PAGE = readPage('docs/decisions/0007-dependencies.md');
const RUNS = '## What runs';
const DEVELOPS = '## What develops';

/** The packages in the first cell of each table row under one heading. */
function packagesUnder(heading: string): readonly string[] {
  const [, section = ''] = PAGE.split(`${heading}\n`);
  const cells = groupsOf(section.split('\n## ')[0] ?? '', /^\| (`[^|]+) \|/gm);
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

test('the index lists every decision with its number and title', () => {
  const pages = DOCUMENTS.filter((file) => /decisions\/\d/.test(file));
  const lines = pages.map((file) => {
    const [number, title] =
      readPage(file)
        .match(/^# (\d+\. )(.+)$/m)
        ?.slice(1) ?? [];
    return `${number}[${title}](${basename(file)})`;
  });
  expect(groupsOf(readPage(INDEX), /^(\d+\. .+)$/gm)).toEqual(lines);
});
