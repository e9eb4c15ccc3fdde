import { describe, expect, test } from 'vitest';
import {
  addDays,
  type Day,
  dayOf,
  daysBetween,
  instantAt,
  localDay,
  weekdayOf,
} from '../../src/base/time.ts';
import { findDueSlot, nextSlot, type Schedule, type Slot } from '../../src/base/weekly-times.ts';

const DAILY: Schedule['days'] = ['mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun'];
const WEEKDAYS = DAILY.slice(0, 5);
const BERLIN: Schedule = { at: '09:00', timezone: 'Europe/Berlin', days: WEEKDAYS };

function at(text: string): Date {
  return new Date(`2026-${text}:00Z`);
}

describe('a digest at nine on weekdays in Berlin', () => {
  test.for<[string, string, Day | null, string]>([
    ['a minute before nine', '11-20T07:59', '2026-11-19', 'waiting'],
    ['at nine', '11-20T08:00', '2026-11-19', 'due'],
    ['at nine, and it was posted already', '11-20T08:00', '2026-11-20', 'waiting'],
    ['after a start at one in the afternoon', '11-20T12:00', '2026-11-19', 'due'],
    ['a minute before it is six hours late', '11-20T13:59', '2026-11-19', 'due'],
    ['six hours late', '11-20T14:00', '2026-11-19', 'missed'],
    ['on the Saturday after a missed Friday', '11-21T12:00', '2026-11-19', 'missed'],
    ['on Sunday', '11-22T09:00', '2026-11-20', 'waiting'],
    ['for the first time', '11-20T08:30', null, 'due'],
    ['added after nine, not wanted before tomorrow', '11-20T08:30', '2026-11-20', 'waiting'],
  ])('%s', ([, now, lastDay, state]) => {
    expect(findDueSlot(BERLIN, at(now), lastDay).state).toBe(state);
  });

  test.for<[string, string, Day | null, Day, Day]>([
    ['Friday has Thursday', '11-20T08:00', '2026-11-19', '2026-11-19', '2026-11-19'],
    ['Monday has Friday to Sunday', '11-23T08:00', '2026-11-20', '2026-11-20', '2026-11-22'],
    ['the first one, on a Monday, too', '11-23T08:00', null, '2026-11-20', '2026-11-22'],
    ['a day after a missed one', '11-20T08:00', '2026-11-18', '2026-11-18', '2026-11-19'],
    ['seven days at most', '11-20T08:00', '2026-10-01', '2026-11-13', '2026-11-19'],
  ])('%s', ([, now, lastDay, first, last]) => {
    const due = findDueSlot(BERLIN, at(now), lastDay);
    expect(due.state === 'due' && due.slot.covers).toEqual({ first, last });
  });

  test('has its next time, over the weekend and after a missed one', () => {
    const next = new Date('2026-11-23T08:00:00Z');
    const waiting = { state: 'waiting', next };
    expect(findDueSlot(BERLIN, at('11-20T08:00'), '2026-11-20')).toEqual(waiting);
    expect(findDueSlot(BERLIN, at('11-21T08:00'), '2026-11-19')).toMatchObject({ next });
    expect(nextSlot(BERLIN, next)).toEqual(new Date('2026-11-24T08:00:00Z'));
  });

  test('is posted at 09:00 local time in summer and in winter', () => {
    expect(nextSlot(BERLIN, at('07-01T00:00'))).toEqual(at('07-01T07:00'));
    expect(nextSlot(BERLIN, at('12-01T00:00'))).toEqual(at('12-01T08:00'));
  });
});

test('a week later, a weekly digest has the seven days', () => {
  const due = findDueSlot({ ...BERLIN, days: ['mon'] }, at('11-23T08:00'), '2026-11-16');
  expect(due).toMatchObject({ slot: { covers: { first: '2026-11-16', last: '2026-11-22' } } });
});

test('a digest without any day is never due', () => {
  const never = findDueSlot({ ...BERLIN, days: [] }, at('11-20T08:00'), null);
  expect(never).toEqual({ state: 'waiting', next: null });
});

test('an unknown zone is refused and not replaced by UTC', () => {
  const nowhere = { ...BERLIN, timezone: 'Europe/Nowhere' };
  expect(() => findDueSlot(nowhere, at('11-20T08:00'), null)).toThrow(RangeError);
});

test.for<[string, Day, string, string, string]>([
  ['skipped', '2026-03-29', '02:30', 'Europe/Berlin', '2026-03-29T01:00'],
  ['shown twice', '2026-10-25', '02:30', 'Europe/Berlin', '2026-10-25T00:30'],
  ['skipped', '2026-03-08', '02:00', 'America/New_York', '2026-03-08T07:00'],
  ['shown twice', '2026-11-01', '01:00', 'America/New_York', '2026-11-01T05:00'],
  ['skipped by 30 min', '2026-10-04', '02:15', 'Australia/Lord_Howe', '2026-10-03T15:30'],
  ['skipped at midnight', '2026-04-24', '00:00', 'Africa/Cairo', '2026-04-23T22:00'],
  ['a minute after the gap', '2026-03-29', '03:00', 'Europe/Berlin', '2026-03-29T01:00'],
  ['a minute before the gap', '2026-03-29', '01:59', 'Europe/Berlin', '2026-03-29T00:59'],
  ['a quarter off the hour', '2026-11-20', '00:00', 'Asia/Kathmandu', '2026-11-19T18:15'],
  ['on a skipped day', '2011-12-30', '09:00', 'Pacific/Apia', '2011-12-30T10:00'],
])('a time that is %s (%s %s in %s) is one instant', ([, day, time, timezone, instant]) => {
  expect(instantAt(day, time, timezone)).toEqual(new Date(`${instant}Z`));
});

/** Looks every few hours for a year and remembers what it posted. */
function postings(schedule: Schedule, first: Day, last: Day): readonly Slot[] {
  const slots: Slot[] = [];
  const until = instantAt(addDays(last, 1), '00:00', schedule.timezone).getTime();
  let lastDay: Day | null = addDays(first, -1);
  for (let time = instantAt(first, '00:00', schedule.timezone).getTime(); time < until; ) {
    const due = findDueSlot(schedule, new Date(time), lastDay);
    expect(due.state).not.toBe('missed');
    if (due.state === 'due') slots.push(due.slot);
    if (due.state === 'due') lastDay = due.slot.localDay;
    time += 5 * 3_600_000;
  }
  return slots;
}

function wallClock(instant: Date, timeZone: string): string {
  return instant.toLocaleTimeString('en-GB', { timeZone, hour: '2-digit', minute: '2-digit' });
}

describe('over a whole year', () => {
  const [first, last] = ['2026-01-01', '2026-12-31'];

  test.for<[string, string, Schedule['days'], readonly string[], number]>([
    ['02:30', 'Europe/Berlin', DAILY, ['03:00'], 0],
    ['02:30', 'America/New_York', WEEKDAYS, [], 0],
    ['02:15', 'Australia/Lord_Howe', DAILY, ['02:30'], 0],
    ['00:00', 'Africa/Cairo', DAILY, ['01:00'], 0],
    ['09:00', 'Asia/Kathmandu', ['mon', 'thu', 'sun'], [], 0],
    ['09:00', 'Europe/Berlin', WEEKDAYS, [], 0],
    ['09:00', 'Asia/Tokyo', ['tue', 'sat'], [], 0],
    // In summer this is before midnight in UTC: on the first day of it nothing new is over.
    ['00:30', 'Europe/London', DAILY, [], 1],
  ])('%s in %s comes once on each of its days and reports each day that is over', (row) => {
    const [time, timezone, weekdays, moved, again] = row;
    const slots = postings({ at: time, timezone, days: weekdays }, first, last);
    const wanted = daysBetween(first, last).filter((day) =>
      weekdays.includes(DAILY[weekdayOf(day)] ?? 'mon'),
    );
    expect(slots.map((slot) => slot.localDay)).toEqual(wanted);
    expect(slots.map((slot) => localDay(slot.at, timezone))).toEqual(wanted);
    const times = slots.map((slot) => wallClock(slot.at, timezone));
    expect(times.filter((each) => each !== time)).toEqual(moved);
    const covered = slots.flatMap(({ covers }) => daysBetween(covers.first, covers.last));
    const all = [...new Set(covered)];
    expect(all).toEqual(daysBetween(all[0] ?? '', all.at(-1) ?? ''));
    expect(all.at(-1)?.slice(0, 7)).toBe('2026-12');
    expect(covered.length - all.length).toBe(again);
    expect(slots.filter(({ at: when, covers }) => covers.last >= dayOf(when))).toEqual([]);
  });
});
