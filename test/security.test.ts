import { existsSync, readFileSync } from 'node:fs';
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

test('no scope is asked for without a reason on the page', () => {
  const rows = [...PAGE.matchAll(/^\| `([a-z:]+)`(?:, optional)? \| (.+?) \|/gm)];
  const scopes = manifest.oauth_config.scopes.bot;
  expect(rows.map(([, scope]) => scope).toSorted()).toEqual([...scopes].toSorted());
  const optional = PAGE.match(/^\| `([a-z:]+)`, optional/gm) ?? [];
  expect(optional).toHaveLength(manifest.oauth_config.scopes.bot_optional.length);
});
