import { expect, test } from 'vitest';
import type { Change } from '../../src/changes/change.ts';
import { reminderAfter, reminderOf, remindersFor } from '../../src/workflow/reminders.ts';
import { changeIn, minutes, NOON, REQUIRES } from '../changes/fixtures.ts';

const draft = changeIn('draft');
const escalating = { ...REQUIRES, escalation: { to: 'chief', afterMs: 3_600_000 } };
const planned = (before: Change, after: Change) =>
  remindersFor(before, after, NOON).map(({ kind, at }) => [kind, at]);

test('who may decide is reminded after a quarter of an hour', () => {
  const pending = changeIn('pending', { confirmedAt: NOON });
  expect(planned(draft, pending)).toEqual([['remind:waiting:1', minutes(15)]]);
});

test('the second role is called at its time', () => {
  const pending = changeIn('pending', { confirmedAt: NOON, requires: escalating });
  expect(planned(draft, pending)).toContainEqual(['remind:escalated:1', minutes(60)]);
});

test('nobody is reminded of what has expired by then', () => {
  const short = { confirmedAt: NOON, requires: escalating, expiresAt: minutes(15) };
  expect(planned(draft, changeIn('pending', short))).toEqual([]);
});

test('an approval that is not the last starts no second row of reminders', () => {
  expect(planned(changeIn('pending'), changeIn('pending'))).toEqual([]);
});

test('a doubt is told again until somebody settles it', () => {
  const doubt = changeIn('unknown');
  expect(planned(changeIn('executing'), doubt)).toEqual([['remind:doubt:1', minutes(15)]]);
});

test('each wait is longer than the one before', () => {
  const waits = (name: string, change: Change) =>
    [1, 2, 3, 4, 5].map((n) => {
      const next = reminderAfter(`remind:${name}:${n}`, change, NOON);
      return next && (next.at.getTime() - NOON.getTime()) / 60_000;
    });
  const long = changeIn('pending', { expiresAt: minutes(5_000) });
  expect(waits('waiting', long)).toEqual([45, 135, 405, 1_215, 1_440]);
  expect(waits('waiting', changeIn('pending'))).toEqual([45, 135, null, null, null]);
  expect(waits('doubt', changeIn('unknown'))).toEqual([60, 240, 960, 1_440, 1_440]);
});

test('there is an end to it', () => {
  const long = changeIn('pending', { expiresAt: minutes(50_000) });
  expect(reminderAfter('remind:waiting:9', long, NOON)?.kind).toBe('remind:waiting:10');
  expect(reminderAfter('remind:waiting:10', long, NOON)).toBeNull();
  expect(reminderAfter('remind:escalated:1', long, NOON)).toBeNull();
});

test.for<[string, Change, string | null]>([
  ['remind:waiting:1', changeIn('pending'), 'waiting'],
  ['remind:waiting:1', changeIn('approved'), 'over'],
  ['remind:doubt:1', changeIn('unknown'), 'doubt'],
  ['remind:doubt:1', changeIn('succeeded'), 'over'],
  ['remind:something:1', changeIn('pending'), 'over'],
  ['thread:expired', changeIn('expired'), null],
])('%s of a change that is %s', ([kind, change, expected]) => {
  expect(reminderOf(kind, change)).toBe(expected);
});
