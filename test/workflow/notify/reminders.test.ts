import { expect, test } from 'vitest';
import type { Change } from '../../../src/changes/change.ts';
import { reminderAfter, reminderOf, remindersFor } from '../../../src/workflow/notify/reminders.ts';
import { changeIn, DOUBT, minutes, NOON, REQUIRES } from '../../changes/fixtures.ts';

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
  const times = (name: string, change: Change) =>
    [1, 2, 3, 4, 5].map((n) => {
      const next = reminderAfter(`remind:${name}:${n}`, change, NOON);
      return next && (next.at.getTime() - NOON.getTime()) / 60_000;
    });
  const since = { confirmedAt: NOON };
  const long = changeIn('pending', { ...since, expiresAt: minutes(5_000) });
  expect(times('waiting', long)).toEqual([60, 195, 600, 1_815, 3_255]);
  expect(times('waiting', changeIn('pending', since))).toEqual([60, 195, null, null, null]);
  const doubt = changeIn('unknown', { outcome: { ...DOUBT, at: NOON } });
  expect(times('doubt', doubt)).toEqual([75, 315, 1_275, 2_715, 4_155]);
});

test('what is told late does not put off the next, nor bring two at once', () => {
  const change = changeIn('pending', { confirmedAt: NOON });
  const after = (now: Date) => reminderAfter('remind:waiting:1', change, now)?.at;
  expect(after(minutes(59))).toEqual(minutes(60));
  expect(after(minutes(70))).toEqual(minutes(85));
});

test('there is an end to it', () => {
  const long = changeIn('pending', { confirmedAt: NOON, expiresAt: minutes(50_000) });
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
