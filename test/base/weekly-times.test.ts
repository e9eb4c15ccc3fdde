import { expect, test } from 'vitest';
import {
  contradiction,
  nextOccurrence,
  occurrencesBetween,
  readWeeklyTimes,
  stoppedHours,
  type WeeklyPlan,
  weeklyTimesText,
} from '../../src/base/weekly-times.ts';

test.for<[string, string]>([
  ['weekdays 20:00', 'weekdays 20:00'],
  ['Weekdays 7:00', 'weekdays 07:00'],
  ['daily 00:00', 'daily 00:00'],
  ['weekends 10:15', 'weekends 10:15'],
  ['mon-fri 20:00', 'weekdays 20:00'],
  ['fri-mon 20:00', 'mon fri sat sun 20:00'],
  ['sunday, sat 20:00', 'weekends 20:00'],
  ['wed mon wed 20:00', 'mon wed 20:00'],
  ['mon-thu 20:00, fri 18:00; sat 12:00', 'mon tue wed thu 20:00, fri 18:00, sat 12:00'],
])('the times “%s” are read as “%s”', ([typed, text]) => {
  const times = readWeeklyTimes(typed);
  expect(times && weeklyTimesText(times)).toBe(text);
  expect(readWeeklyTimes(text)).toEqual(times);
});

test.for<[string, string]>([
  ['nothing', ''],
  ['a time without days', '20:00'],
  ['a second time without days', 'weekdays 20:00 21:00'],
  ['days without a time', 'weekdays'],
  ['days after the last time', 'mon 20:00 tue'],
  ['an unknown day', 'workdays 20:00'],
  ['a time that does not exist', 'daily 24:00'],
  ['twelve hours', 'daily 8pm'],
  ['a range of three days', 'mon-tue-wed 20:00'],
  ['half a range', 'mon- 20:00'],
  ['the name of a method', 'constructor 20:00'],
  ['more than seven times', 'mon 1:00 '.repeat(8)],
])('%s is not a weekly time', ([, typed]) => {
  expect(readWeeklyTimes(typed)).toBeNull();
});

function planOf(stop: string, start: string, timezone = 'Europe/Berlin'): WeeklyPlan {
  return { stop: readWeeklyTimes(stop) ?? [], start: readWeeklyTimes(start) ?? [], timezone };
}

const NIGHTS = planOf('weekdays 20:00', 'weekdays 07:00');
const NIGHTLY = planOf('daily 02:30', '');
const MET = planOf('sun 02:30', 'sun 03:00');
const EAST = planOf('mon 00:30', '', 'Pacific/Auckland');

test.for<[string, WeeklyPlan, string, string]>([
  ['on a Monday at noon', NIGHTS, '2026-11-23T11:00Z', 'stop 2026-11-23T19:00'],
  ['at the time of the stop', NIGHTS, '2026-11-23T19:00Z', 'start 2026-11-24T06:00'],
  ['a minute before the stop', NIGHTS, '2026-11-23T18:59Z', 'stop 2026-11-23T19:00'],
  ['on a Friday night, over the weekend', NIGHTS, '2026-11-20T20:00Z', 'start 2026-11-23T06:00'],
  ['only a stop', planOf('fri 18:00', ''), '2026-11-20T18:00Z', 'stop 2026-11-27T17:00'],
  ['only a start', planOf('', 'mon 06:00'), '2026-11-20T18:00Z', 'start 2026-11-23T05:00'],
  // Clocks go forward on 29 March 2026 from 02:00 to 03:00, and back on 25 October at 03:00.
  ['a stop at a skipped time', NIGHTLY, '2026-03-28T12:00Z', 'stop 2026-03-29T01:00'],
  ['a stop at a repeated time', NIGHTLY, '2026-10-24T12:00Z', 'stop 2026-10-25T00:30'],
  ['after its first occurrence', NIGHTLY, '2026-10-25T00:30Z', 'stop 2026-10-26T01:30'],
  ['a skipped stop at the minute of a start', MET, '2026-03-28T12:00Z', 'start 2026-03-29T01:00'],
  ['in summer', NIGHTS, '2026-07-01T08:00Z', 'stop 2026-07-01T18:00'],
  ['east of the date line', EAST, '2026-11-20T00:00Z', 'stop 2026-11-22T11:30'],
])('the next occurrence %s', ([, plan, after, expected]) => {
  const next = nextOccurrence(plan, new Date(after));
  expect(`${next?.action} ${next?.at.toISOString().slice(0, 16)}`).toBe(expected);
});

test('a plan without times has no occurrence', () => {
  expect(nextOccurrence(planOf('', ''), new Date())).toBeNull();
});

test('an unknown time zone is an error', () => {
  const plan = { ...NIGHTS, timezone: 'Mars/Olympus' };
  expect(() => nextOccurrence(plan, new Date())).toThrow(RangeError);
});

test('a week has five stops and five starts, also when the clocks change', () => {
  for (const monday of ['2026-03-23', '2026-10-19', '2026-11-23']) {
    const [from, until] = [0, 14].map((days) => new Date(Date.parse(monday) + days * 86_400_000));
    const all = occurrencesBetween(NIGHTS, from ?? new Date(), until ?? new Date());
    expect(all.filter(({ action }) => action === 'stop')).toHaveLength(10);
    expect(all.filter(({ action }) => action === 'start')).toHaveLength(10);
    expect(new Set(all.map(({ at }) => at.getTime())).size).toBe(20);
  }
});

test('occurrences are those after the first instant, up to the second one', () => {
  const [stop, start] = [new Date('2026-11-23T19:00Z'), new Date('2026-11-24T06:00Z')];
  expect(occurrencesBetween(NIGHTS, stop, start)).toEqual([{ action: 'start', at: start }]);
  expect(occurrencesBetween(NIGHTS, start, stop)).toEqual([]);
});

test.for<[string, string, string | null]>([
  ['weekdays 20:00', 'weekdays 07:00', null],
  ['weekdays 20:00', 'fri 20:00', 'fri 20:00'],
  ['mon 20:00', 'tue 20:00', null],
])('a stop at “%s” and a start at “%s” contradict each other: %s', ([stop, start, slot]) => {
  expect(contradiction(planOf(stop, start))).toBe(slot);
});

test.for<[string, string, string, number]>([
  // Four nights of 11 h, and from Friday 20:00 to Monday 07:00.
  ['nights and the weekend', 'weekdays 20:00', 'weekdays 07:00', 4 * 11 + 59],
  ['every night', 'daily 22:00', 'daily 06:00', 7 * 8],
  ['a second stop of a stopped service', 'fri 20:00, sat 20:00', 'mon 07:00', 59],
  ['never', '', 'weekdays 07:00', 0],
])('a service is stopped in the hours of a week: %s', ([, stop, start, hours]) => {
  for (const day of [16, 18, 20, 22]) {
    const after = new Date(`2026-11-${day}T12:00:00Z`);
    expect(stoppedHours(planOf(stop, start), after)).toBe(hours);
  }
});
