import { existsSync, globSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import manifest from '../manifest.json' with { type: 'json' };

const PAGE = readFileSync('docs/security.md', 'utf8');
const CITATION = /`(?<file>test\/[\w./-]+\.ts)` “(?<words>[^”]+)”/g;

/** The table rows that cite tests, as cells. The last cell has the citations. */
function rowsWithTests(page: string): readonly string[][] {
  const rows = page.split('\n').filter((line) => line.startsWith('| ') && line.includes('`test/'));
  return rows.map((row) => row.split(' | ').map((cell) => cell.replace(/^\||\|$/g, '').trim()));
}

function hasTest(file: string, words: string): boolean {
  if (!existsSync(file)) return false;
  // The source escapes quotes within a test name, the page does not.
  return readFileSync(file, 'utf8').replaceAll('\\', '').includes(words);
}

test('each threat and attack of the security page cites existing tests', () => {
  const all = rowsWithTests(PAGE);
  expect(all.length).toBeGreaterThan(30);
  const unproven = all.flatMap(([threat = '', , tests = '']) => {
    const named = [...tests.matchAll(CITATION)].map(({ groups }) => groups);
    const missing = named.filter((each) => !hasTest(each?.file ?? '', each?.words ?? ''));
    if (named.length === 0 || named.length !== tests.split('`test/').length - 1) return [threat];
    return missing.map((each) => `${each?.file}: ${each?.words}`);
  });
  expect(unproven).toEqual([]);
});

test('a citation of a missing test is found', () => {
  expect(hasTest('test/nothing.test.ts', 'x')).toBe(false);
  expect(hasTest('test/server.test.ts', 'no such test')).toBe(false);
});

test('the numbers of the attacks have no gap', () => {
  const numbers = [...PAGE.matchAll(/^\| (\d+) \|/gm)].map(([, number]) => Number(number));
  expect(numbers).toEqual(Array.from({ length: 45 }, (_, index) => index + 1));
});

/** The source of the bot, without comments. */
const SOURCES = globSync('src/**/*.ts')
  .filter((file) => !/sandbox|node_modules/.test(file))
  .map((file) => ({
    file,
    code: readFileSync(file, 'utf8').replace(/\/\*[\s\S]*?\*\/|^\s*\/\/.*$/gm, ''),
  }));

// The listed files build it from constants only. A reviewer verified each of them.
test.for<[string, RegExp, readonly string[]]>([
  [
    'statement',
    /\.raw\(|sql\.(?:lit|id|ref|table)\(|\.(?:prepare|exec)\(\s*`/,
    [
      'src/storage/engine/sqlite/group-commit.ts',
      'src/storage/engine/sqlite/sqlite.ts',
      'src/storage/migrations/migrate.ts',
      'src/storage/tables/changes/change-query.ts',
    ],
  ],
  [
    'pattern',
    /\bRegExp\(/,
    [
      'src/config/variables.ts',
      'src/costs/question/period-grammar.ts',
      'src/intent/arguments/wire.ts',
      'src/workflow/audit-trail/anchors.ts',
    ],
  ],
  // pg_dump and pg_restore, for an operator, without a shell. The bot never imports this file.
  [
    'program',
    /\beval\(|\bFunction\(|child_process|node:vm|worker_threads/,
    ['src/cli/postgres-tool.ts'],
  ],
])('no %s contains text from outside', ([, making, known]) => {
  const makers = SOURCES.filter(({ code }) => making.test(code)).map(({ file }) => file);
  expect(makers.toSorted()).toEqual(known);
});

test('the comparison of signatures takes constant time', () => {
  const bolt = 'node_modules/@slack/bolt/dist/receivers/';
  expect(readFileSync(`${bolt}verify-request.js`, 'utf8')).toMatch(/tsscmp|timingSafeEqual/);
  expect(readFileSync(`${bolt}HTTPReceiver.js`, 'utf8')).toContain('parseAndVerifyHTTPRequest');
  // No other code compares a signature.
  const comparers = SOURCES.filter(({ code }) => /x-slack-signature/.test(code));
  expect(comparers.map(({ file }) => file).filter((file) => file !== 'src/slack/probe.ts')).toEqual(
    [],
  );
});

test('the page has a reason for each requested scope', () => {
  const rows = [...PAGE.matchAll(/^\| `([a-z_:]+)`(?:, optional)? \| (.+?) \|/gm)];
  const scopes = manifest.oauth_config.scopes.bot;
  expect(rows.map(([, scope]) => scope).toSorted()).toEqual([...scopes].toSorted());
  const optional = PAGE.match(/^\| `([a-z_:]+)`, optional/gm) ?? [];
  expect(optional).toHaveLength(manifest.oauth_config.scopes.bot_optional.length);
});
