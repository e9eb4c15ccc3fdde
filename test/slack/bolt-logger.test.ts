import { expect, test } from 'vitest';
import { createLog } from '../../src/base/log.ts';
import { boltLogger } from '../../src/slack/api.ts';

function openLog() {
  const lines: Record<string, unknown>[] = [];
  const log = createLog({ level: 'trace' }, { write: (line) => void lines.push(JSON.parse(line)) });
  const clock = { now: 0 };
  return { lines, clock, bolt: boltLogger(log, () => clock.now) };
}

test('a flood of invalid signatures does not fill the log', () => {
  const { lines, clock, bolt } = openLog();
  const complain = () => bolt.warn('Failed to verify', new Error('signature mismatch'));
  for (let n = 0; n < 10_000; n += 1) complain();
  expect(lines).toMatchObject([
    { level: 40, from: 'bolt', again: 0, msg: 'Failed to verify signature mismatch' },
  ]);
  bolt.error('something else');
  expect(lines).toHaveLength(2);
  clock.now = 60_000;
  complain();
  expect(lines[2]).toMatchObject({ again: 9_999 });
});

test('a flood of different messages does not fill the log', () => {
  const { lines, bolt } = openLog();
  for (let n = 0; n < 10_000; n += 1) bolt.warn(`no JSON: ${n}`);
  expect(lines.length).toBeLessThan(60);
});

test('a failed call is left to its caller, which logs the error', () => {
  const { lines, bolt } = openLog();
  bolt.warn('http request failed', 'fetch failed');
  expect(lines).toEqual([]);
});

test('payloads that Bolt logs at lower levels are dropped', () => {
  const { lines, bolt } = openLog();
  bolt.debug('a payload');
  bolt.info('a payload');
  expect(lines).toEqual([]);
});
