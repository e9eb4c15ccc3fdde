import { basename } from 'node:path';
import { expect, test } from 'vitest';
import packageJson from '../../package.json' with { type: 'json' };
import { DOCUMENTS, found, read } from './pages.ts';

const { dependencies, devDependencies } = packageJson;
const INDEX = 'docs/decisions/README.md';
const REASONS = read('docs/decisions/0007-dependencies.md');
const RUNS = '## What runs';
const DEVELOPS = '## What develops';

/** The first cell of each row, under one heading. */
function reasonsUnder(heading: string): readonly string[] {
  const [, section = ''] = REASONS.split(`${heading}\n`);
  const cells = found(section.split('\n## ')[0] ?? '', /^\| (`[^|]+) \|/gm);
  return cells.flatMap((cell) => found(cell, /`([^`]+)`/g));
}

const isOf = (name: string, reason: string) =>
  reason === name || (reason === '@types/*' && name.startsWith('@types/'));

test.for<[string, Readonly<Record<string, string>>]>([
  [RUNS, dependencies],
  [DEVELOPS, devDependencies],
])('%s: every package has its reason, and every reason its package', ([heading, packages]) => {
  const reasons = reasonsUnder(heading);
  const names = Object.keys(packages);
  expect(names.filter((name) => !reasons.some((reason) => isOf(name, reason)))).toEqual([]);
  expect(reasons.filter((reason) => !names.some((name) => isOf(name, reason)))).toEqual([]);
});

test('the index has every decision, by its number and its heading', () => {
  const pages = DOCUMENTS.filter((file) => /decisions\/\d/.test(file));
  const lines = pages.map((file) => {
    const [number, title] =
      read(file)
        .match(/^# (\d+\. )(.+)$/m)
        ?.slice(1) ?? [];
    return `${number}[${title}](${basename(file)})`;
  });
  expect(found(read(INDEX), /^(\d+\. .+)$/gm)).toEqual(lines);
});
