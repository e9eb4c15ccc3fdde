import { expect, test } from 'vitest';
import type { Change } from '../../src/domain/change.ts';
import type { Reminder } from '../../src/storage/old/outbox-message.ts';
import { isReminderDue, reminderAfter, remindersFor } from '../../src/workflow/old/reminders.ts';
import { changeIn, minutes, NOON, REQUIRES, UNKNOWN } from '../domain/changes-fixtures.ts';

const draft = changeIn('draft');
const escalating = { ...REQUIRES, escalation: { to: 'chief', afterMs: 3_600_000 } };
const planned = (before: Change, after: Change) =>
  remindersFor(before, after, NOON).map(({ reminder, number, at }) => [reminder, number, at]);
const message = (reminder: Reminder, number: number) =>
  ({ changeId: draft.id, kind: 'reminder', reminder, number }) as const;

test('approvers are reminded after 15 minutes', () => {
  const pending = changeIn('pending', { confirmedAt: NOON });
  expect(planned(draft, pending)).toEqual([['waiting', 1, minutes(15)]]);
});

test('the escalation role is mentioned at its time', () => {
  const pending = changeIn('pending', { confirmedAt: NOON, requires: escalating });
  expect(planned(draft, pending)).toContainEqual(['escalated', 1, minutes(60)]);
});

test('no reminder is planned at or after the expiry', () => {
  const short = { confirmedAt: NOON, requires: escalating, expiresAt: minutes(15) };
  expect(planned(draft, changeIn('pending', short))).toEqual([]);
});

test('an approval that is not the last plans no second series of reminders', () => {
  expect(planned(changeIn('pending'), changeIn('pending'))).toEqual([]);
});

test('an unknown outcome is repeated until a user resolves it', () => {
  const unknown = changeIn('unknown');
  expect(planned(changeIn('executing'), unknown)).toEqual([['unknown', 1, minutes(15)]]);
});

test('each wait is longer than the previous one', () => {
  const times = (name: Reminder, change: Change) =>
    [1, 2, 3, 4, 5].map((n) => {
      const next = reminderAfter(message(name, n), change, NOON);
      return next && (next.at.getTime() - NOON.getTime()) / 60_000;
    });
  const since = { confirmedAt: NOON };
  const long = changeIn('pending', { ...since, expiresAt: minutes(5_000) });
  expect(times('waiting', long)).toEqual([60, 195, 600, 1_815, 3_255]);
  expect(times('waiting', changeIn('pending', since))).toEqual([60, 195, null, null, null]);
  const unknown = changeIn('unknown', { outcome: { ...UNKNOWN, at: NOON } });
  expect(times('unknown', unknown)).toEqual([75, 315, 1_275, 2_715, 4_155]);
});

test('a late reminder does not delay the next one, and two never come at once', () => {
  const change = changeIn('pending', { confirmedAt: NOON });
  const after = (now: Date) => reminderAfter(message('waiting', 1), change, now)?.at;
  expect(after(minutes(59))).toEqual(minutes(60));
  expect(after(minutes(70))).toEqual(minutes(85));
});

test('the reminders end after their last one', () => {
  const long = changeIn('pending', { confirmedAt: NOON, expiresAt: minutes(50_000) });
  expect(reminderAfter(message('waiting', 9), long, NOON)).toMatchObject({ number: 10 });
  expect(reminderAfter(message('waiting', 10), long, NOON)).toBeNull();
  expect(reminderAfter(message('escalated', 1), long, NOON)).toBeNull();
});

test.for<[Reminder, Change, boolean]>([
  ['waiting', changeIn('pending'), true],
  ['waiting', changeIn('approved'), false],
  ['unknown', changeIn('unknown'), true],
  ['unknown', changeIn('succeeded'), false],
])('a reminder %s of a change that is $1.state is due: %s', ([reminder, change, expected]) => {
  expect(isReminderDue(message(reminder, 1), change)).toBe(expected);
});
