import { expect, test } from 'vitest';
import { ApiError, type ApiFailure, InvalidRequest } from '../../src/base/errors.ts';
import { Damaged, KeyProblem } from '../../src/log/index.ts';
import { errorMessage, missingObject } from '../../src/slack/private-answers.ts';
import { linesOf } from '../contracts/message-lines.ts';

function errorOf(failure: Partial<ApiFailure>): ApiError {
  const usual = { operation: 'getUsageCost', effect: 'refused', kind: 'answer' } as const;
  return new ApiError({ ...usual, status: 404, ...failure });
}

function shown(failure: Partial<ApiFailure>): readonly string[] {
  const error = errorOf(failure);
  return linesOf(JSON.parse(JSON.stringify(errorMessage(error)?.blocks ?? [])));
}

const EXPIRED = 'It may have expired, or it belongs to another service.';
const NO_SETTINGS =
  'Pipes that copy a database have none. Any other pipe was deleted or belongs to another service.';

test.for([
  ['getAlert', 'Not Found', 'There is no such alert', 'It may have been deleted.'],
  ['getBackup', 'NOT_FOUND: 5f0e', 'There is no such backup', EXPIRED],
  ['getPipeSettings', 'NOT_FOUND: pipe "5f0e"', 'This pipe has no settings', NO_SETTINGS],
] as const)('a 404 of %s names the missing object', ([operation, serverText, ...lines]) => {
  const said = `Server response  404 ${serverText}`;
  expect(shown({ operation, serverText })).toEqual([...lines, said]);
});

test('a 404 of another operation says what it may mean', () => {
  const meaning = EXPIRED.replace('It', 'Not found: it');
  const lines = ['Request failed', 'Server response  404 NOT_FOUND', meaning];
  expect(shown({ serverText: 'NOT_FOUND' })).toEqual(lines);
});

test.for<[Error, string]>([
  [Object.assign(new Error('gone'), { code: '57P01' }), 'Signalbox cannot use its database'],
  [new Damaged(7, 'hash'), 'Signalbox cannot verify its log'],
  [new KeyProblem('other key', 'set it'), 'Signalbox cannot verify its log'],
])('what cannot be stored names what was seen: %s', ([error, problem]) => {
  expect(linesOf(JSON.parse(JSON.stringify(errorMessage(error)?.blocks)))).toEqual([
    `${problem}, so nothing was done. Try again in a minute.`,
  ]);
});

test('a value that Signalbox itself refuses is not called a response of the server', () => {
  const problem = 'must be 1 to 64 letters, digits, hyphens or underscores';
  const error = new InvalidRequest('getAlert', [{ field: 'id', problem }]);
  expect(errorMessage(error)?.text).toBe(`Signalbox did not send the request: id ${problem}.`);
});

test('a 404 of another server or route is not a missing alert', () => {
  const failure = { operation: 'getAlert', kind: 'wrong-address' } as const;
  const lines = shown(failure);
  expect(missingObject(errorOf(failure))).toBeNull();
  expect(lines.join('\n')).not.toContain('There is no such alert');
});

test('a page that forbids is not a missing permission of the key', () => {
  expect(shown({ status: 403, kind: 'foreign-answer', serverText: null })).toEqual([
    'Request failed',
    'The answer was not of the API, but for example the page of a proxy in between.',
    'Status  403',
    'Nothing was changed. Try again in a minute.',
  ]);
});

test('another error of the same operation is not a missing alert', () => {
  const lines = shown({ operation: 'getAlert', status: 403, serverText: 'Forbidden' });
  expect(lines[0]).toBe('Request failed');
});
