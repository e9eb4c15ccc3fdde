import { mkdtempSync, readdirSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pino } from 'pino';
import { expect, test } from 'vitest';
import { openRecorder } from '../../src/ops/record.ts';

/** What is recorded of one reply of an API. */
function recorded(arrived: unknown): string {
  const folder = mkdtempSync(join(tmpdir(), 'signalbox-record-'));
  const log = pino({ level: 'silent' });
  const now = () => new Date('2026-11-20T12:00:00.000Z');
  const record = openRecorder({ folder, file: '{}', prefix: '', commands: [], now, log });
  record({ door: 'api', call: 'GET /v1/organizations', sent: null, status: 200, arrived });
  record({ door: 'api', call: 'GET /v1/last', sent: null, status: 200, arrived: {} });
  return readFileSync(join(folder, readdirSync(folder)[0] ?? '', 'record.jsonl'), 'utf8');
}

test.for<[string, unknown]>([
  ['a number', { password: 48391 }],
  ['a text of digits', { passphrase: '48391' }],
  ['a list', { apiKeys: ['48391'] }],
  ['a value deep inside', { result: [{ service: { credentials: { api_key: '48391' } } }] }],
  ['a pin', { user_pin: '48391' }],
  ['a structure inside a text', { view: '{"otp":"48391"}' }],
])('a secret that is %s is not recorded, and the recording goes on', ([, arrived]) => {
  const text = recorded(arrived);
  expect(text).not.toContain('48391');
  expect(text).toContain('[removed]');
});

test('a text that only looks like a structure does not end the recording', () => {
  const text = recorded({ view: '{zanzibar', blocks: '[' });
  expect(text).not.toContain('zanzibar');
  expect(text.trim().split('\n')).toHaveLength(2);
});
