import { expect, test } from 'vitest';
import type { Actor, Change, Refusal } from '../../src/domain/change.ts';
import {
  actor,
  ana,
  ben,
  changeIn,
  dora,
  minutes,
  NOON,
  REQUIRES,
  SUCCESS,
} from './changes-fixtures.ts';
import { breakGlass, distrust, review } from './gate-fixtures.ts';

const requires = { ...REQUIRES, breakGlass: 'approver' };
const anaWhoMay = actor('U0ANA', 'operator', 'approver');
const pending = (over: Partial<Change> = {}) => changeIn('pending', { requires, ...over });
const broken = { by: ana.id, at: minutes(1), reason: 'the disk is full' };
const over = (more: Partial<Change> = {}) =>
  changeIn('succeeded', { requires, approvals: [], breakGlass: broken, ...more });

test.for(['draft', 'pending'] as const)(
  'a %s change runs without approvals after break-glass',
  (state) => {
    const outcome = breakGlass(changeIn(state, { requires }), anaWhoMay, 'the disk is full', NOON);
    expect(outcome).toMatchObject({
      ok: true,
      change: {
        state: 'approved',
        approvals: [],
        breakGlass: { by: ana.id, at: NOON, reason: 'the disk is full' },
        version: 4,
      },
    });
  },
);

test('break-glass keeps the time of the confirmation', () => {
  const alone = (change: Change) => breakGlass(change, anaWhoMay, 'the disk is full', NOON);
  const since = minutes(-9);
  expect(alone(pending())).toMatchObject({ change: { confirmedAt: since } });
  const draft = changeIn('draft', { requires });
  expect(alone(draft)).toMatchObject({ change: { confirmedAt: NOON } });
});

test.for<[string, Change, Actor, string, Refusal]>([
  ['another user presses', pending(), ben, 'now', 'not-requester'],
  ['the change has ended', over(), anaWhoMay, 'now', 'already-decided'],
  ['the change has expired', pending({ expiresAt: NOON }), anaWhoMay, 'now', 'expired'],
  ['the rule has no break-glass', changeIn('pending'), anaWhoMay, 'now', 'no-break-glass'],
  ['the requester lacks the role', pending(), ana, 'now', 'may-not-break-glass'],
  ['the reason is empty', pending(), anaWhoMay, '  ', 'reason-required'],
])('break-glass is refused when %s', ([, change, by, reason, refusal]) => {
  expect(breakGlass(change, by, reason, NOON)).toEqual({ ok: false, refusal });
});

test('another person reviews a break-glass change', () => {
  const outcome = review(over(), ben, 'I saw the same', NOON);
  const reviewed = { by: ben.id, at: NOON, note: 'I saw the same' };
  expect(outcome).toMatchObject({ ok: true, change: { state: 'succeeded', review: reviewed } });
});

test('approvers and users with break-glass may review, each without the other role', () => {
  const gus = actor('U0GUS', 'oncall');
  const change = over({ requires: { ...REQUIRES, breakGlass: 'oncall' } });
  expect(review(change, ben, 'fine', NOON)).toMatchObject({ ok: true });
  expect(review(change, gus, 'fine', NOON)).toMatchObject({ ok: true });
});

test.for<[string, Change, Actor, string, Refusal]>([
  ['break-glass was not used', changeIn('succeeded'), ben, 'fine', 'no-break-glass'],
  [
    'the change is executing',
    changeIn('executing', { breakGlass: broken }),
    ben,
    'fine',
    'not-ended',
  ],
  [
    'it was reviewed before',
    over({ review: { by: ben.id, at: NOON, note: 'fine' } }),
    ben,
    'fine',
    'already-reviewed',
  ],
  ['the user of break-glass reviews', over(), anaWhoMay, 'fine', 'self-approval'],
  ['a viewer reviews', over(), dora, 'fine', 'not-an-approver'],
  ['the note is empty', over(), ben, ' ', 'note-required'],
])('a review is refused when %s', ([, change, by, note, refusal]) => {
  expect(review(change, by, note, NOON)).toEqual({ ok: false, refusal });
});

test.for(['draft', 'pending', 'approved'] as const)(
  'after a restore a change that was %s becomes stale',
  (state) => {
    const change = { state: 'stale', stopReason: 'restored', lease: null };
    expect(distrust(changeIn(state), 'restored')).toMatchObject({ ok: true, change });
  },
);

test('after a restore the outcome of a change that was executing is unknown', () => {
  const change = { state: 'unknown', stopReason: null, lease: null };
  expect(distrust(changeIn('executing'), 'restored')).toMatchObject({ ok: true, change });
});

test('after a restore an ended change stays as it was', () => {
  const outcome = distrust(changeIn('succeeded', { outcome: SUCCESS }), 'restored');
  expect(outcome).toEqual({ ok: false, refusal: 'already-decided' });
});
