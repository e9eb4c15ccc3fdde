import { existsSync, globSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { expect, test } from 'vitest';
import { DOCUMENTS, groupsOf, headingsOf, readPage } from './pages.ts';

const LINK = /\]\(([^)\s]+)\)/g;

function linksOf(file: string): readonly string[] {
  return groupsOf(readPage(file), LINK).filter((link) => !/^https?:/.test(link));
}

function isDead(from: string, link: string): boolean {
  const [path = '', anchor] = link.split('#');
  const file = path === '' ? from : join(dirname(from), path);
  if (!existsSync(file)) return true;
  return anchor !== undefined && !headingsOf(file).includes(anchor);
}

test.for(DOCUMENTS)('the files and headings that %s links exist', (file) => {
  expect(linksOf(file).filter((link) => isDead(file, link))).toEqual([]);
});

test('a link to a missing page or heading is found', () => {
  expect(isDead('README.md', 'docs/missing.md')).toBe(true);
  expect(isDead('README.md', 'docs/operating.md#no-such-heading')).toBe(true);
  expect(isDead('docs/policy.md', '../README.md')).toBe(false);
});

test('every page and picture can be reached from the README', () => {
  const reached = new Set(['README.md']);
  // The loop also visits elements that are added during it.
  for (const page of reached) {
    if (!page.endsWith('.md')) continue;
    const linked = linksOf(page).map((link) => link.replace(/#.*/, ''));
    for (const path of linked) reached.add(normalize(join(dirname(page), path)));
  }
  const all = [...DOCUMENTS, ...globSync('docs/pictures/*')];
  expect(all.filter((file) => !reached.has(file))).toEqual([]);
});
