import { expect, test } from 'vitest';
import { checkSchedule, dayToReport, hasSlotOn } from '../../src/costs/digest-schedule.ts';
import type { DigestSubscription } from '../../src/costs/subscriptions.ts';
import type { UserId } from '../../src/domain/change.ts';
import { digest } from './facts.ts';

const turn = (one: DigestSubscription, now: string, lastDay: string | null) => {
  const { state, ...rest } = checkSchedule(one, new Date(now), lastDay);
  const time = (at: Date | null | undefined) => at?.toISOString().slice(5, 16);
  if (!('slot' in rest)) return `${state}, next ${time(rest.next)}`;
  const { at, covers } = rest.slot;
  return `${state} at ${time(at)}: ${covers.first} to ${covers.last}`;
};

const berlin = { at: '09:30', timezone: 'Europe/Berlin', days: 'daily' };
const DAILY = digest(berlin);
const ADDED = digest(berlin, { by: 'UANA' as UserId, since: new Date('2026-11-20T09:00Z') });
const WEEKLY = digest({ period: 'week', at: '09:30' });
const SEVEN = 'due at 11-23T09:30: 2026-11-16 to 2026-11-22';
const [DUE, WAITS] = ['11-20T08:30: 2026-11-19 to 2026-11-19', 'waiting, next 11-21T08:30'];

test.for<[string, DigestSubscription, string, string | null, string]>([
  ['its time has come', DAILY, '2026-11-20T08:30Z', '2026-11-19', `due at ${DUE}`],
  ['it was posted already', DAILY, '2026-11-20T08:30Z', '2026-11-20', WAITS],
  ['it was down for eight hours', DAILY, '2026-11-20T16:30Z', '2026-11-19', `missed at ${DUE}`],
  ['the file was new eight hours ago', DAILY, '2026-11-20T16:30Z', null, WAITS],
  ['it was added after its time of the day', ADDED, '2026-11-20T09:10Z', null, WAITS],
  ['a week is over', WEEKLY, '2026-11-23T09:30Z', '2026-11-16', SEVEN],
])('when %s', ([, one, now, lastDay, expected]) => {
  expect(turn(one, now, lastDay)).toBe(expected);
});

// In Berlin, 01:30 is 23:30 UTC since the clocks changed.
test.for<[string, slot: string, last: string | null, now: string, string | null]>([
  ['is yesterday', '11-20T08:30', '11-18', '11-20T08:31', '11-19'],
  ['is yesterday, also the first time', '11-20T08:30', null, '11-20T08:31', '11-19'],
  ['is yesterday of its slot, if it is late', '11-20T21:00', '11-18', '11-21T01:00', '11-19'],
  ['is not repeated where the clocks changed', '03-29T23:30', '03-28', '03-29T23:31', null],
  ['is the next one once it is over', '03-29T23:30', '03-28', '03-30T00:16', '03-29'],
  ['is none if it was reported', '11-20T08:30', '11-20', '11-20T08:31', null],
])('the day that a digest reports %s', ([, slot, last, now, expected]) => {
  const localDay = `2026-${slot.slice(0, 5)}`;
  const covers = { first: localDay, last: localDay };
  const at = new Date(`2026-${slot}Z`);
  const found = dayToReport(
    { localDay, at, covers },
    last && `2026-${last}`,
    new Date(`2026-${now}Z`),
  );
  expect(found).toBe(expected && `2026-${expected}`);
});

test.for<[string, boolean]>([
  ['2026-11-20T05:00Z', true],
  ['2026-11-20T22:00Z', true],
  ['2026-11-21T12:00Z', false],
])('whether a digest of weekdays has a slot on the local day of %s: %s', ([now, expected]) => {
  expect(hasSlotOn(digest({ ...berlin, days: 'weekdays' }), new Date(now))).toBe(expected);
});
