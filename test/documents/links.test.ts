import { existsSync, globSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { expect, test } from 'vitest';
import { DOCUMENTS, found, read } from './pages.ts';

const LINK = /\]\(([^)\s]+)\)/g;
/** Files that send their reader to a page; what they name is seen from the root. */
const POINTERS = [
  ...['Dockerfile', 'compose.yaml', 'signalbox.example.yaml', '.ci/run'],
  ...globSync(['src/**/*.{ts,tsx}', 'deploy/**/*.*', 'bench/**/*.ts']),
];

function linksOf(file: string): readonly string[] {
  return found(read(file), LINK).filter((link) => !/^https?:/.test(link));
}

/** The address that a heading has on a page. */
function anchorsOf(file: string): string[] {
  const slug = (heading: string) =>
    heading
      .toLowerCase()
      .replace(/[^\p{L}\d _-]/gu, '')
      .replaceAll(' ', '-');
  return found(read(file), /^#+ (.+)$/gm).map(slug);
}

function isDead(from: string, link: string): boolean {
  const [path = '', anchor] = link.split('#');
  const file = path === '' ? from : join(dirname(from), path);
  if (!existsSync(file)) return true;
  return anchor !== undefined && !anchorsOf(file).includes(anchor);
}

test.for(DOCUMENTS)('the links of %s lead somewhere', (file) => {
  expect(linksOf(file).filter((link) => isDead(file, link))).toEqual([]);
});

test('a link to what is not there is noticed', () => {
  expect(isDead('README.md', 'docs/nowhere.md')).toBe(true);
  expect(isDead('README.md', 'docs/operating.md#nothing-of-the-kind')).toBe(true);
  expect(isDead('docs/policy.md', '../README.md')).toBe(false);
});

test('every page and picture is reached from the README', () => {
  const reached = new Set(['README.md']);
  // A set may grow while it is walked through.
  for (const page of reached) {
    if (!page.endsWith('.md')) continue;
    const linked = linksOf(page).map((link) => link.replace(/#.*/, ''));
    for (const path of linked) reached.add(normalize(join(dirname(page), path)));
  }
  const all = [...DOCUMENTS, ...globSync('docs/pictures/*')];
  expect(all.filter((file) => !reached.has(file))).toEqual([]);
});

test('what names a page from outside of the pages names one that is there', () => {
  const named = POINTERS.flatMap((file) => found(read(file), /\b(docs\/[\w/-]+\.md(?:#[\w-]+)?)/g));
  expect(named.length).toBeGreaterThan(0);
  expect(named.filter((link) => isDead('README.md', link))).toEqual([]);
});
