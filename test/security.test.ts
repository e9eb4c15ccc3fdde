import { existsSync, globSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import manifest from '../manifest.json' with { type: 'json' };
import { importsOf } from './imports.ts';

const PAGE = readFileSync('docs/security.md', 'utf8');
const CITATION = /\[(?<words>[^\]]+)\]\(\.\.\/(?<file>test\/[\w./-]+\.ts)\)/g;

const [, CLAIMS = ''] = PAGE.match(/\n## Who can do what\n([\s\S]*?)\n## Scopes\n/) ?? [];
/** The rows of the table of parties, and the attacks. */
const claims = CLAIMS.split('\n').filter((line) => /^- |^\| (?!Who)/.test(line));

const citationsIn = (text: string) => [...text.matchAll(CITATION)].map(({ groups }) => groups);

function hasTest(file: string, words: string): boolean {
  if (!existsSync(file)) return false;
  // The source escapes quotes within a test name, the page does not.
  return readFileSync(file, 'utf8').replaceAll('\\', '').includes(words);
}

test('each party and attack of the security page cites a test', () => {
  expect(claims.length).toBeGreaterThan(70);
  expect(claims.filter((claim) => citationsIn(claim).length === 0)).toEqual([]);
});

test('the tests that the security page cites exist, with the cited part of their names', () => {
  const missing = citationsIn(PAGE).filter((each) => !hasTest(each?.file ?? '', each?.words ?? ''));
  expect(missing).toEqual([]);
});

test('a citation of a missing test is found', () => {
  expect(hasTest('test/nothing.test.ts', 'x')).toBe(false);
  expect(hasTest('test/server.test.ts', 'no such test')).toBe(false);
});

/** The source of the bot, without comments. */
const SOURCES = globSync('src/**/*.ts')
  .filter((file) => !/sandbox|node_modules/.test(file))
  .map((file) => ({
    file,
    code: readFileSync(file, 'utf8').replace(/\/\*[\s\S]*?\*\/|^\s*\/\/.*$/gm, ''),
  }));

const PROGRAM = /\beval\(|\bFunction\(|child_process|node:vm|worker_threads/g;

const withoutEscapes = (text: string) => text.replaceAll('\\', '').replace(/\$\{(\w+)\}/g, '<$1>');

// Each is built from constants only. A reviewer verified each of them, in the file where it stands.
test.for<[string, RegExp, readonly string[]]>([
  [
    'statement',
    /\.raw\([^)]*|sql\.(?:lit|id|ref|table)\([^)]*|\.(?:prepare|exec)\(\s*`[^`]*/g,
    [
      ".raw('begin immediate'",
      ".raw('release member'",
      ".raw('rollback to member'",
      ".raw('rollback'",
      ".raw('savepoint member'",
      ...['.raw(statement', '.raw(statement'],
      ...['sql.ref(by', 'sql.ref(by', 'sql.ref(by', 'sql.ref(column', 'sql.ref(name'],
      // An operator names the role, and the database its schema; both are quoted as names.
      ...['sql.id(role', 'sql.id(role', "sql.id(rows[0]?.name ?? 'public'"],
    ],
  ],
  [
    'pattern',
    /\bRegExp\([^)]*/g,
    [
      // Its parts are constants of the same file.
      'RegExp(\n    Object.entries(parts',
      'RegExp(Object.keys(LABELS',
      "RegExp(words, 'i'",
      'RegExp(`^<EDGE><TO>$`',
      'RegExp(`^<EDGE><TO><EDGE>$`',
      'RegExp(`^<start>S+$`',
      'RegExp(`^(.*?',
      'RegExp(`^(?:and |then |and then |but ',
      // The names of the months.
      'RegExp(`^(?:(2d{3}',
    ],
  ],
  // pg_dump and pg_restore, for an operator, without a shell.
  ['program', PROGRAM, ['child_process']],
])('no %s contains text from outside', ([, making, known]) => {
  const made = SOURCES.flatMap(({ code }) => code.match(making) ?? []);
  expect(made.map(withoutEscapes).toSorted()).toEqual(known.toSorted());
});

test('the bot imports no file that starts a program', () => {
  const imported = new Set(['src/app.ts']);
  // The loop also visits elements that are added during it.
  for (const file of imported) {
    if (!existsSync(file) || !file.startsWith('src/')) continue;
    for (const { of } of importsOf(file)) imported.add(of);
  }
  const starters = SOURCES.filter(({ code }) => code.match(PROGRAM)).map(({ file }) => file);
  expect(imported.size).toBeGreaterThan(100);
  expect(starters.filter((file) => imported.has(file))).toEqual([]);
});

test('the comparison of signatures takes constant time', () => {
  const bolt = 'node_modules/@slack/bolt/dist/receivers/';
  expect(readFileSync(`${bolt}verify-request.js`, 'utf8')).toMatch(/tsscmp|timingSafeEqual/);
  expect(readFileSync(`${bolt}HTTPReceiver.js`, 'utf8')).toContain('parseAndVerifyHTTPRequest');
  // Of agents, the door drops the header after the check.
  expect(readFileSync('src/agents/identity.ts', 'utf8')).toContain('timingSafeEqual(one, other)');
  // No other code compares a signature: Bolt says why a payload was refused.
  const named = SOURCES.flatMap(({ code }) => code.match(/\S*x-slack-signature\S*/gi) ?? []);
  expect(named.toSorted()).toEqual([
    "'x-slack-signature'",
    "'x-slack-signature':",
    "'x-slack-signature'])",
    "String(headers['x-slack-signature']);",
    "credentials.header('x-slack-signature');",
  ]);
});

test('the page has a reason for each requested scope', () => {
  const rows = [...PAGE.matchAll(/^\| `([a-z_:]+)`(?:, optional)? \| (.+?) \|/gm)];
  const scopes = manifest.oauth_config.scopes.bot;
  expect(rows.map(([, scope]) => scope).toSorted()).toEqual([...scopes].toSorted());
  const optional = PAGE.match(/^\| `([a-z_:]+)`, optional/gm) ?? [];
  expect(optional).toHaveLength(manifest.oauth_config.scopes.bot_optional.length);
});
