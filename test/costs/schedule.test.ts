import { describe, expect, test } from 'vitest';
import type { Slot } from '../../src/base/weekly-times.ts';
import { checkSchedule, dayToReport, hasSlotOn } from '../../src/costs/digest-schedule.ts';
import type { DigestSubscription } from '../../src/costs/subscriptions.ts';
import type { UserId } from '../../src/domain/change.ts';
import { digest } from './facts.ts';

const turn = (one: DigestSubscription, now: string, lastDay: string | null) => {
  const { state, ...rest } = checkSchedule(one, new Date(now), lastDay);
  if (!('slot' in rest)) return `${state}, next ${rest.next?.toISOString().slice(0, 16)}`;
  const { localDay, at, covers } = rest.slot;
  const time = at.toISOString().slice(0, 16);
  return `${state} for ${localDay} at ${time}: ${covers.first} to ${covers.last}`;
};

const berlin = { at: '09:30', timezone: 'Europe/Berlin', days: 'daily' };
const night = { at: '02:30', timezone: 'Europe/Berlin', days: 'daily' };

test.for<[string, DigestSubscription, string, string | null, string]>([
  [
    'its time has come',
    digest(berlin),
    '2026-11-20T08:30Z',
    '2026-11-19',
    'due for 2026-11-20 at 2026-11-20T08:30: 2026-11-19 to 2026-11-19',
  ],
  [
    'it was posted already',
    digest(berlin),
    '2026-11-20T08:30Z',
    '2026-11-20',
    'waiting, next 2026-11-21T08:30',
  ],
  [
    'summer begins in Berlin: its time is an hour earlier by UTC',
    digest(berlin),
    '2027-03-28T07:30Z',
    '2027-03-27',
    'due for 2027-03-28 at 2027-03-28T07:30: 2027-03-27 to 2027-03-27',
  ],
  [
    'the clocks skip its time: the next valid minute',
    digest(night),
    '2027-03-28T01:00Z',
    '2027-03-27',
    'due for 2027-03-28 at 2027-03-28T01:00: 2027-03-27 to 2027-03-27',
  ],
  [
    'the clocks show its time twice: the first counts',
    digest(night),
    '2026-10-25T00:30Z',
    '2026-10-24',
    'due for 2026-10-25 at 2026-10-25T00:30: 2026-10-24 to 2026-10-24',
  ],
  [
    'the clocks show its time for the second time: it was posted',
    digest(night),
    '2026-10-25T01:30Z',
    '2026-10-25',
    'waiting, next 2026-10-26T01:30',
  ],
  [
    'New York goes to winter time',
    digest({ ...berlin, timezone: 'America/New_York' }),
    '2026-11-01T14:30Z',
    '2026-10-31',
    'due for 2026-11-01 at 2026-11-01T14:30: 2026-10-31 to 2026-10-31',
  ],
  [
    'Signalbox was down for five hours: it is made up for',
    digest(berlin),
    '2026-11-20T13:30Z',
    '2026-11-19',
    'due for 2026-11-20 at 2026-11-20T08:30: 2026-11-19 to 2026-11-19',
  ],
  [
    'winter begins in Berlin: its time is an hour later by UTC',
    digest(berlin),
    '2026-10-25T08:30Z',
    '2026-10-24',
    'due for 2026-10-25 at 2026-10-25T08:30: 2026-10-24 to 2026-10-24',
  ],
  [
    'Signalbox was down for eight hours',
    digest(berlin),
    '2026-11-20T16:30Z',
    '2026-11-19',
    'missed for 2026-11-20 at 2026-11-20T08:30: 2026-11-19 to 2026-11-19',
  ],
  [
    'the file was new eight hours ago: nothing was promised before',
    digest(berlin),
    '2026-11-20T16:30Z',
    null,
    'waiting, next 2026-11-21T08:30',
  ],
  [
    'it was added after its time of the day',
    digest(berlin, { by: 'UANA' as UserId, since: new Date('2026-11-20T09:00Z') }),
    '2026-11-20T09:10Z',
    null,
    'waiting, next 2026-11-21T08:30',
  ],
  [
    'a week is over',
    digest({ period: 'week', at: '09:30' }),
    '2026-11-23T09:30Z',
    '2026-11-16',
    'due for 2026-11-23 at 2026-11-23T09:30: 2026-11-16 to 2026-11-22',
  ],
])('when %s', ([, one, now, lastDay, expected]) => {
  expect(turn(one, now, lastDay)).toBe(expected);
});

describe('the day that a digest reports', () => {
  const slotAt = (at: string): Slot => {
    const day = at.slice(0, 10);
    return { localDay: day, at: new Date(at), covers: { first: day, last: day } };
  };

  test.for<[string, string, string | null, string, string | null]>([
    ['is yesterday', '2026-11-20T08:30Z', '2026-11-18', '2026-11-20T08:31Z', '2026-11-19'],
    [
      'is yesterday, also the first time',
      '2026-11-20T08:30Z',
      null,
      '2026-11-20T08:31Z',
      '2026-11-19',
    ],
    [
      'is yesterday of its slot, if it is late',
      '2026-11-20T21:00Z',
      '2026-11-18',
      '2026-11-21T01:00Z',
      '2026-11-19',
    ],
    // In Berlin, 01:30 is 23:30 UTC since the clocks changed.
    [
      'is not repeated where the clocks changed',
      '2026-03-29T23:30Z',
      '2026-03-28',
      '2026-03-29T23:31Z',
      null,
    ],
    [
      'is the next one once it is over',
      '2026-03-29T23:30Z',
      '2026-03-28',
      '2026-03-30T00:16Z',
      '2026-03-29',
    ],
    ['is none if it was reported', '2026-11-20T08:30Z', '2026-11-20', '2026-11-20T08:31Z', null],
  ])('%s', ([, slot, last, now, expected]) => {
    expect(dayToReport(slotAt(slot), last, new Date(now))).toBe(expected);
  });
});

test.for<[string, boolean]>([
  ['2026-11-20T05:00Z', true],
  ['2026-11-20T22:00Z', true],
  ['2026-11-21T12:00Z', false],
])('whether a digest of weekdays has a slot on the local day of %s: %s', ([now, expected]) => {
  expect(hasSlotOn(digest({ ...berlin, days: 'weekdays' }), new Date(now))).toBe(expected);
});
