import { existsSync, globSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import manifest from '../manifest.json' with { type: 'json' };

const PAGE = readFileSync('docs/security.md', 'utf8');
const HELD = /`(?<file>test\/[\w./-]+\.ts)` “(?<words>[^”]+)”/g;

/** A threat is a row of three cells; the last one says which tests hold it. */
function threats(page: string): readonly string[][] {
  const rows = page.split('\n').filter((line) => line.startsWith('| ') && line.includes('`test/'));
  return rows.map((row) => row.split(' | ').map((cell) => cell.replace(/^\||\|$/g, '').trim()));
}

function isHeld(file: string, words: string): boolean {
  if (!existsSync(file)) return false;
  // Quotes within a test's name are escaped there and not here.
  return readFileSync(file, 'utf8').replaceAll('\\', '').includes(words);
}

test('each threat of the security page is held by tests that exist', () => {
  const all = threats(PAGE);
  expect(all.length).toBeGreaterThan(30);
  const loose = all.flatMap(([threat = '', , tests = '']) => {
    const named = [...tests.matchAll(HELD)].map(({ groups }) => groups);
    const missing = named.filter((each) => !isHeld(each?.file ?? '', each?.words ?? ''));
    if (named.length === 0 || named.length !== tests.split('`test/').length - 1) return [threat];
    return missing.map((each) => `${each?.file}: ${each?.words}`);
  });
  expect(loose).toEqual([]);
});

test('a test that is not there is noticed', () => {
  expect(isHeld('test/nothing.test.ts', 'x')).toBe(false);
  expect(isHeld('test/server.test.ts', 'a door that is not there')).toBe(false);
});

test('the list of attacks has no gap', () => {
  const numbers = [...PAGE.matchAll(/^\| (\d+) \|/gm)].map(([, number]) => Number(number));
  expect(numbers).toEqual(Array.from({ length: 45 }, (_, index) => index + 1));
});

/** Of the bot alone, without its remarks. */
const SOURCES = globSync('src/**/*.ts')
  .filter((file) => !/sandbox|node_modules/.test(file))
  .map((file) => ({
    file,
    code: readFileSync(file, 'utf8').replace(/\/\*[\s\S]*?\*\/|^\s*\/\/.*$/gm, ''),
  }));

// Each of these is made of constants of ours, and was looked at.
test.for<[string, RegExp, readonly string[]]>([
  [
    'statement',
    /\.raw\(|sql\.(?:lit|id|ref|table)\(|\.(?:prepare|exec)\(\s*`/,
    ['src/storage/engine/sqlite.ts', 'src/storage/migrations/migrate.ts'],
  ],
  [
    'pattern',
    /\bRegExp\(/,
    [
      'src/config/variables.ts',
      'src/costs/question/period-grammar.ts',
      'src/intent/arguments/wire.ts',
    ],
  ],
  ['program', /\beval\(|\bFunction\(|child_process|node:vm|worker_threads/, []],
])('no %s is made of what somebody wrote', ([, making, known]) => {
  const makers = SOURCES.filter(({ code }) => making.test(code)).map(({ file }) => file);
  expect(makers.toSorted()).toEqual(known);
});

test('signatures are compared in the same time, however much of them is right', () => {
  const bolt = 'node_modules/@slack/bolt/dist/receivers/';
  expect(readFileSync(`${bolt}verify-request.js`, 'utf8')).toMatch(/tsscmp|timingSafeEqual/);
  expect(readFileSync(`${bolt}HTTPReceiver.js`, 'utf8')).toContain('parseAndVerifyHTTPRequest');
  // And nobody of ours compares one by himself.
  const comparers = SOURCES.filter(({ code }) => /x-slack-signature/.test(code));
  expect(comparers.map(({ file }) => file).filter((file) => file !== 'src/slack/probe.ts')).toEqual(
    [],
  );
});

test('no scope is asked for without a reason on the page', () => {
  const rows = [...PAGE.matchAll(/^\| `([a-z:]+)`(?:, optional)? \| (.+?) \|/gm)];
  const scopes = manifest.oauth_config.scopes.bot;
  expect(rows.map(([, scope]) => scope).toSorted()).toEqual([...scopes].toSorted());
  const optional = PAGE.match(/^\| `([a-z:]+)`, optional/gm) ?? [];
  expect(optional).toHaveLength(manifest.oauth_config.scopes.bot_optional.length);
});
