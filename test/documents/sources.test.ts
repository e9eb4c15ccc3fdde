import { existsSync, globSync } from 'node:fs';
import { expect, test } from 'vitest';
import { groupsOf, headingsOf, readPage } from './pages.ts';

const FILES = [
  ...['Dockerfile', 'compose.yaml', 'signalbox.example.yaml', '.ci/run'],
  ...globSync(['{src,sandbox,test,bench}/**/*.{ts,tsx,mjs}', 'deploy/**/*.*'], {
    exclude: ['**/dist/**', 'test/documents/**'],
  }),
];
/** A page, or a page and a heading: `docs/forecasts.md#forecast`. */
const PAGE = /\b((?:docs|sandbox)\/[\w/-]+\.md(?:#[\w-]+)?)/g;
/** What a docstring gives as its source, up to the end of the sentence. */
const SOURCE = /\bSource: ([^\n*]+)/g;
/** Any page by its name, outside of `docs/` and the pages of the root as well. */
const ANY_PAGE = /(?<![\w/.-])((?:[\w.-]+\/)*[\w-]+\.md)\b/g;

/** Comments wrap, so a citation may continue on the next line. */
function commentsOf(code: string): string {
  const comments = code.match(/\/\*[\s\S]*?\*\/|^\s*\/\/.*(?:\n\s*\/\/.*)*/gm) ?? [];
  return comments.map((comment) => comment.replace(/\n\s*(?:\*(?!\/)|\/\/) ?/g, ' ')).join('\n');
}

function isMissing(citation: string): boolean {
  const [page = '', heading] = citation.split('#');
  if (!existsSync(page)) return true;
  return heading !== undefined && !headingsOf(page).includes(heading);
}

/** Citations of a file that a reader of the repository cannot follow. */
function badCitations(code: string): readonly string[] {
  const comments = commentsOf(code);
  const sources = groupsOf(comments, SOURCE).filter(
    (source) => !/^(?:docs|sandbox)\/[\w/-]+\.md#[\w-]+/.test(source),
  );
  const pages = groupsOf(comments, ANY_PAGE).filter((page) => !existsSync(page));
  return [...groupsOf(code, PAGE).filter(isMissing), ...sources, ...pages];
}

test('every page and heading that the code cites exists in the repository', () => {
  const bad = FILES.flatMap((file) =>
    badCitations(readPage(file)).map((each) => `${file}: ${each}`),
  );
  expect(bad).toEqual([]);
});

test('the code cites the formulas of the costs page', () => {
  const cited = FILES.flatMap((file) => groupsOf(readPage(file), PAGE));
  expect(cited.filter((page) => page.startsWith('docs/costs.md#')).length).toBeGreaterThan(15);
});

test.for<[string, string, readonly string[]]>([
  ['a heading that exists', '/** Source: docs/forecasts.md#forecast. */', []],
  ['a source that wraps', '/**\n * Source:\n * docs/forecasts.md#forecast.\n */', []],
  ['an unknown heading', '// See docs/costs.md#magic', ['docs/costs.md#magic']],
  ['an unknown page', "const page = 'docs/secret.md';", ['docs/secret.md']],
  ['a page outside the repository', '/** As in facts/cost.md. */', ['facts/cost.md']],
  ['a source without a page', '/** Source: our own. */', ['our own. ']],
  ['a page without a heading as source', '/** Source: docs/costs.md */', ['docs/costs.md ']],
])('a citation of %s is judged', ([, code, expected]) => {
  expect(badCitations(code)).toEqual(expected);
});
