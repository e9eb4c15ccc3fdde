import { describe, expect, test } from 'vitest';
import type { Body } from '../../src/base/http-answer.ts';
import {
  answerError,
  isContradiction,
  isForeign,
  requestIdOf,
  serverTextOf,
} from '../../src/base/http-answer.ts';

const json = (value: unknown): Body => ({ kind: 'json', value });
const text = (words: string): Body => ({ kind: 'text', text: words });

function errorOf(status: number, body: Body, headers: Record<string, string> = {}) {
  const options = { secrets: [], retryAfterMs: 10_000 };
  return answerError({ operation: 'getThing' }, { status, headers, body }, options);
}

describe('the error text of the server is found', () => {
  const BAD = 'BAD_REQUEST: Invalid minimum memory size: 12';
  const PROBLEM = { type: 'about:blank', title: 'Bad Request', status: 400 };
  const issues = [
    { path: ['interval'], message: 'Required' },
    { path: ['channel', 'type'], message: 'no' },
  ];
  const OLDER = [{ type: 'Body', errors: { issues } }];
  const deep = JSON.parse(`${'{"error":'.repeat(7)}"x"${'}'.repeat(7)}`);

  test.for<[string, Body, string | null]>([
    ['in the error of the cloud API', json({ status: 400, error: BAD, requestId: 'r' }), BAD],
    ['in an error without an id', json({ error: 'Unauthorized' }), 'Unauthorized'],
    ['inside an error object', json({ error: { message: 'no such thing' } }), 'no such thing'],
    ['in the details of an error object', json({ error: { details: 'too big' } }), 'too big'],
    ['in the message of the alerts API', json({ message: 'Alert not found' }), 'Alert not found'],
    ['in the error rather than the message', json({ message: 'b', error: 'a' }), 'a'],
    ['in the list of an older alerts server', json(OLDER), 'interval: Required; channel.type: no'],
    ['in a list of errors', json({ errors: [{ message: 'too big' }] }), 'too big'],
    ['in a list of texts', json({ message: ['too big', 'too late'] }), 'too big; too late'],
    ['in a bare list of texts', json(['too big']), 'too big'],
    ['in the detail of a problem', json({ ...PROBLEM, detail: 'no such day' }), 'no such day'],
    [
      'in the errors of a problem',
      json({ ...PROBLEM, errors: [{ detail: 'too long', pointer: '#/channel/type' }] }),
      'channel.type: too long',
    ],
    ['in the title of a problem', json(PROBLEM), 'Bad Request'],
    [
      'in the message rather than the phrase of the status',
      json({ statusCode: 400, error: 'Bad Request', message: ['interval must be given'] }),
      'interval must be given',
    ],
    ['in the phrase of the status', json({ error: 'Not Found' }), 'Not Found'],
    ['in a text that only looks like JSON', json({ error: '{x} is no size' }), '{x} is no size'],
    ['nowhere in XML', { kind: 'html', text: '<Error><Message>no</Message></Error>' }, null],
    ['at a bounded depth', json(deep), null],
    ['in plain text', text('Unauthorized'), 'Unauthorized'],
    ['in a JSON string', json('Not Found'), 'Not Found'],
    ['nowhere in an object of other fields', json({ status: 500 }), null],
    ['nowhere in a page', { kind: 'html', text: '<html>x</html>' }, null],
    ['nowhere in an empty answer', { kind: 'empty' }, null],
    ['nowhere in null', json(null), null],
    ['but not a page inside an error', json({ error: '<html><body>x</body></html>' }), null],
  ])('%s', ([, body, words]) => {
    expect(serverTextOf(body)).toBe(words);
  });

  test('with angle brackets that are not an HTML page', () => {
    const words = 'Invalid service id <string:not-a-uuid>';
    expect(serverTextOf(json({ error: words }))).toBe(words);
  });

  test('on one line, without control characters', () => {
    expect(serverTextOf(text('one\r\ntwo\u001b[31m\u0000three'))).toBe('one two [31m three');
    expect(serverTextOf(text('a \u202etext\u2066 b'))).toBe('a text b');
  });

  test('and truncated to 500 characters', () => {
    const words = serverTextOf(text('x'.repeat(501)));
    expect(words).toHaveLength(500);
    expect(words?.endsWith('…')).toBe(true);
    expect(serverTextOf(text('x'.repeat(500)))).toBe('x'.repeat(500));
  });
});

test('a long list and a page without an end have a short text, or none', () => {
  const list = json({ errors: Array(10_000).fill({ message: 'too big' }) });
  expect(serverTextOf(list)).toHaveLength(500);
  // A pattern that goes back over it would take minutes.
  expect(serverTextOf({ kind: 'html', text: '<error '.repeat(100_000) })).toBeNull();
});

describe('the request id', () => {
  test('is taken from the body', () => {
    expect(requestIdOf(json({ requestId: '9f3e-1' }))).toBe('9f3e-1');
  });

  test.for<[string, Body]>([
    ['missing', json({})],
    ['a number', json({ requestId: 5 })],
    ['something that could be read as markup', json({ requestId: '<!channel>' })],
    ['in no JSON', text('requestId')],
  ])('may be %s', ([, body]) => {
    expect(requestIdOf(body)).toBeNull();
  });
});

describe('the wait after a 429', () => {
  const date = 'Fri, 20 Nov 2026 12:00:00 GMT';

  test.for<[string, Record<string, string>, number]>([
    ['is in Retry-After', { 'retry-after': '60' }, 60_000],
    ['reaches to a date', { date, 'retry-after': 'Fri, 20 Nov 2026 12:00:30 GMT' }, 30_000],
    ['is in RateLimit-Reset', { 'ratelimit-reset': '12' }, 12_000],
    ['is a fraction in X-RateLimit-Reset, and one more', { 'x-ratelimit-reset': '2.5' }, 3_500],
    ['is first in Retry-After', { 'retry-after': '1', 'x-ratelimit-reset': '9' }, 1_000],
    ['is first in RateLimit-Reset', { 'ratelimit-reset': '1', 'x-ratelimit-reset': '9' }, 1_000],
    ['is our own without a header', {}, 10_000],
    ['is our own when the header is nonsense', { 'retry-after': 'soon' }, 10_000],
    ['is our own when the date has passed', { date, 'retry-after': 'Fri, 20 Nov 2026' }, 10_000],
    ['is two minutes at most', { 'retry-after': '86400' }, 120_000],
  ])('%s', ([, headers, ms]) => {
    expect(errorOf(429, text('wait'), headers).retryAfterMs).toBe(ms);
  });
});

test.for<[string, Body, boolean]>([
  ['a page', { kind: 'html', text: '<html>x</html>' }, true],
  ['a text', { kind: 'text', text: 'Request blocked by administrator' }, true],
  ['a list', { kind: 'json', value: ['password'] }, true],
  ['a JSON text', { kind: 'json', value: 'ok' }, true],
  ['an object', { kind: 'json', value: {} }, false],
  ['an object of a proxy', { kind: 'json', value: { blocked: true } }, true],
  ['a state of a proxy', { kind: 'json', value: { status: 'blocked' } }, true],
  ['a request id', { kind: 'json', value: { requestId: 'r' } }, false],
  ['a status', { kind: 'json', value: { status: 200 } }, false],
  ['a result', { kind: 'json', value: { result: null } }, false],
  ['a part of its members', { kind: 'cut', value: { status: 200 }, next: '"x' }, false],
  ['a part of other members', { kind: 'cut', value: { x: 1 }, next: '"sta' }, true],
  ['a part of its first name', { kind: 'cut', value: {}, next: '"requ' }, false],
  ['its first name', { kind: 'cut', value: {}, next: '"result"' }, false],
  ['a first name that is shorter', { kind: 'cut', value: {}, next: '"re"' }, true],
  ['another first name', { kind: 'cut', value: {}, next: '"blocked"' }, true],
  ['its first sign', { kind: 'cut', value: {}, next: '' }, false],
  ['null', { kind: 'json', value: null }, false],
  ['nothing', { kind: 'empty' }, false],
])('whether a body is of something else than the API: %s', ([, body, is]) => {
  expect(isForeign(body, 'result')).toBe(is);
});

test.for<[string, unknown, boolean]>([
  ['a status of 400', { status: 400 }, true],
  ['a status of 200', { status: 200 }, false],
  ['a state as its status', { status: 'running' }, false],
  ['an error', { error: 'BAD_REQUEST' }, true],
  ['an empty error next to a result', { error: null, result: {} }, false],
  ['a message in place of a result', { message: 'Not accepted' }, true],
  ['a message next to a result', { message: 'ok', result: {} }, false],
  ['a message and a null result', { message: 'Not accepted', result: null, status: 200 }, true],
  ['a status of 400 as text', { status: '400', requestId: 'r' }, true],
  ['errors', { errors: [{ message: 'bad' }] }, true],
  ['errors by field', { errors: { name: 'too long' } }, true],
  ['no errors', { errors: [], result: {} }, false],
  ['success false', { success: false }, true],
  ['ok false', { ok: false }, true],
  ['success true', { success: true, result: {} }, false],
  [
    'the error list of an older alerts server',
    [{ type: 'Body', errors: { issues: [{ path: ['interval'], message: 'Required' }] } }],
    true,
  ],
  ['a list of objects', [{ name: 'x' }], false],
])('whether a 2xx body contradicts its status: %s', ([, value, is]) => {
  expect(isContradiction({ kind: 'json', value }, 'result')).toBe(is);
});
