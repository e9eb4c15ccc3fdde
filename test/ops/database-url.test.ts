import { expect, test } from 'vitest';
import { databaseUrlProblem, readStore, withExplicitTls } from '../../src/ops/environment.ts';
import { said } from './fixtures.ts';

const ELSEWHERE = 'postgres://bot:canary@db.example.com:5432/signalbox';

test.for<[string, string, string]>([
  ['without a mode', ELSEWHERE, `${ELSEWHERE}?sslmode=verify-full`],
  ['with require', `${ELSEWHERE}?sslmode=require`, `${ELSEWHERE}?sslmode=verify-full`],
  ['with prefer', `${ELSEWHERE}?sslmode=prefer`, `${ELSEWHERE}?sslmode=verify-full`],
  ['on this machine', 'postgres://127.0.0.1:5432/x', 'postgres://127.0.0.1:5432/x'],
  ['on a socket', 'postgres:///x?host=/run/postgresql', 'postgres:///x?host=/run/postgresql'],
  ['with SQLite', 'file:./signalbox.db', 'file:./signalbox.db'],
])('the certificate of a server is verified %s unless it is local', ([, url, expected]) => {
  expect(databaseUrlProblem(url, false)).toBeNull();
  expect(withExplicitTls(url, false)).toBe(expected);
});

test('a network that the operator trusts needs no TLS, but a requested mode stays verified', () => {
  expect(withExplicitTls(ELSEWHERE, true)).toBe(ELSEWHERE);
  const requested = `${ELSEWHERE}?sslmode=require`;
  expect(withExplicitTls(requested, true)).toBe(`${ELSEWHERE}?sslmode=verify-full`);
  expect(databaseUrlProblem(`${ELSEWHERE}?sslmode=disable`, true)).toBeNull();
});

test.for<[string, string, string]>([
  ['without TLS', `${ELSEWHERE}?sslmode=disable`, 'has sslmode=disable'],
  ['without a verified certificate', `${ELSEWHERE}?sslmode=no-verify`, 'has sslmode=no-verify'],
  ['by a parameter', 'postgres:///x?host=db.example.com&sslmode=disable', 'has sslmode=disable'],
  ['with an unknown mode', `${ELSEWHERE}?sslmode=canary`, 'unknown sslmode'],
  ['with the switch of another driver', `${ELSEWHERE}?ssl=0`, 'must not contain ssl'],
  ['with a weaker reading', `${ELSEWHERE}?uselibpqcompat=true&sslmode=require`, 'uselibpqcompat'],
  ['with two servers', 'postgres://bot:canary@one:5432,two:5432/x', 'one server'],
  ['with two servers on one port', 'postgres://one,two/x', 'one server'],
  ['without a server', 'postgres:///x', 'one server'],
])('an address %s is refused before anything is sent', ([, url, words]) => {
  expect(databaseUrlProblem(url, false)?.problem).toContain(words);
  expect(said({ DATABASE_URL: url }).join()).toContain(words);
  expect(said({ DATABASE_URL: url }).join()).not.toContain('canary');
});

test('commands that need only the database refuse and verify in the same way', () => {
  const read = (url: string) => readStore({ DATABASE_URL: url }, () => '');
  expect(read(`${ELSEWHERE}?sslmode=disable`)).toMatchObject({
    ok: false,
    problems: [{ where: 'DATABASE_URL' }],
  });
  const store = read(ELSEWHERE);
  expect(store.ok && store.value.DATABASE_URL.reveal()).toBe(`${ELSEWHERE}?sslmode=verify-full`);
});
