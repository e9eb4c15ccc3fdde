import { expect, test } from 'vitest';
import { addDays, daysBetween } from '../../src/base/time.ts';
import {
  type DaySnapshot,
  isSettled,
  lastSettledAt,
  openDayOf,
  snapshotHistory,
} from '../../src/maths/days.ts';
import { quantile } from '../../src/maths/numbers.ts';
import { FIRST, fetchedReports, stored, usualShare } from './fetched-reports.ts';

const NOW = new Date('2026-11-20T09:30Z');
const HOUR_MS = 3_600_000;
const CREDIT = 1_000_000;

type Change = readonly [time: string, credits: number];

function seen(day: string, changes: readonly Change[]): readonly DaySnapshot[] {
  return changes.map(([time, credits]) => ({
    day,
    fetchedAt: new Date(time),
    total: credits * CREDIT,
    final: false,
  }));
}

test.for<[string, string, readonly Change[], boolean]>([
  ['four days old, at the first fetch', '2026-11-16', [], true],
  ['three days old, at the first fetch', '2026-11-17', [], false],
  ['first fetched at four days, unmoved', '2026-11-12', [['2026-11-16T08:00Z', 10]], true],
  ['first fetched at four days, one hour ago', '2026-11-16', [['2026-11-20T08:30Z', 10]], true],
  ['first fetched at three days, one hour ago', '2026-11-17', [['2026-11-20T08:30Z', 10]], false],
  [
    'unmoved for 47 hours',
    '2026-11-16',
    [
      ['2026-11-17T09:30Z', 9],
      ['2026-11-18T10:30Z', 10],
    ],
    false,
  ],
  [
    'unmoved for 48 hours',
    '2026-11-16',
    [
      ['2026-11-17T09:30Z', 9],
      ['2026-11-18T09:30Z', 10],
    ],
    true,
  ],
  [
    'unmoved since the day itself, over for 57 hours',
    '2026-11-17',
    [['2026-11-17T12:00Z', 10]],
    true,
  ],
  [
    'unmoved since the day itself, over for 33 hours',
    '2026-11-18',
    [['2026-11-18T01:00Z', 10]],
    false,
  ],
  [
    'moved one hour ago at ten days',
    '2026-11-10',
    [
      ['2026-11-14T09:00Z', 9],
      ['2026-11-20T08:30Z', 10],
    ],
    false,
  ],
  ['moved since the last snapshot', '2026-11-10', [['2026-11-14T09:00Z', 9]], false],
  [
    'moved by rounding only',
    '2026-11-10',
    [
      ['2026-11-11T09:00Z', 10.004],
      ['2026-11-20T08:30Z', 10],
    ],
    true,
  ],
])('whether a day is settled that is %s', ([, day, changes, settled]) => {
  const history = snapshotHistory(seen(day, changes));
  const openDay = openDayOf({ day, total: 10 * CREDIT, fetchedAt: NOW }, history);
  expect(openDay).toEqual({ settled, completion: null });
  expect(isSettled({ final: false, openDay })).toBe(settled);
});

test('a final value is settled; an open one without snapshots is not', () => {
  expect(isSettled({ final: true })).toBe(true);
  expect(isSettled({ final: false })).toBe(false);
});

const lateServer = { lockAge: () => 12, share: usualShare };

test('with days that move for two days and lock after twelve, five of fifteen are not settled', () => {
  const reports = fetchedReports(lateServer, { days: 60 });
  const history = snapshotHistory(stored(reports));
  const last = reports.at(-1)?.fetchedAt ?? NOW;
  const today = addDays(FIRST, 59);
  const open = daysBetween(addDays(today, -14), today).filter((day) => {
    const report = reports.findLast((one) => one.day === day);
    const total = report?.total ?? 0;
    return !report?.final && !openDayOf({ day, total, fetchedAt: last }, history).settled;
  });
  expect(open).toEqual(daysBetween(addDays(today, -4), today));
  expect(lastSettledAt(history, last)).toBe(addDays(today, -5));
  expect(lastSettledAt(history, new Date(last.getTime() - 24 * HOUR_MS))).toBe(addDays(today, -6));
  const earlier = new Date(`${addDays(FIRST, 30)}T22:00:00Z`);
  expect(lastSettledAt(history, earlier)).toBe(addDays(FIRST, 25));
  expect(lastSettledAt(snapshotHistory([]), last)).toBeNull();
});

/** The completion of a day so many hours after it began, with these earlier reports of other days. */
function completionAfter(hours: number, reports: ReturnType<typeof fetchedReports>) {
  const fetchedAt = new Date(Date.parse('2027-06-01T00:00:00Z') + hours * HOUR_MS);
  const history = snapshotHistory(stored(reports));
  return openDayOf({ day: '2027-06-01', total: 0, fetchedAt }, history).completion;
}

test.for([20, 33.5, 40, 57, 80])(
  'the completion at %d hours is that of an independent computation',
  (hours) => {
    const share = (age: number, day: string) =>
      usualShare(age) * (age < 3 ? 1 - (Number(day.slice(8)) % 5) / 50 : 1);
    const reports = fetchedReports({ lockAge: () => 12, share }, { days: 60 });
    const shares: number[] = [];
    for (let index = 0; index < 60; index += 1) {
      const day = addDays(FIRST, index);
      const own = reports.filter((one) => one.day === day);
      const final = own.at(-1);
      const until = Date.parse(`${day}T00:00:00Z`) + hours * HOUR_MS;
      let value = 0;
      for (const one of own) if (one.fetchedAt.getTime() <= until) value = one.total;
      if (final?.final) shares.push(value / final.total);
    }
    const completion = completionAfter(hours, reports);
    expect(completion).toEqual({
      typical: quantile(shares, 0.5),
      high: quantile(shares, 0.9),
      days: shares.length,
    });
  },
);

test('a completion needs fourteen final days that were fetched at that age', () => {
  const of = (days: number, more = {}) => {
    const reports = fetchedReports(lateServer, { days, ...more });
    return completionAfter(33, reports);
  };
  expect(of(25)).toBeNull();
  expect(of(26)).toMatchObject({ days: 14 });
  expect(of(26, { isDown: (hours: number) => hours > 72 && hours < 84 })).toBeNull();
});

test('at an age at which most days report nothing, there is no completion', () => {
  const share = (age: number, day: string) =>
    age < 3 && Number(day.slice(8)) % 3 > 0 ? 0 : usualShare(age);
  const reports = fetchedReports({ lockAge: () => 12, share }, { days: 60 });
  expect(completionAfter(33, reports)).toBeNull();
  expect(completionAfter(80, reports)).toMatchObject({ days: 48 });
});

test('only a day that is not settled has a completion', () => {
  const reports = fetchedReports(lateServer, { days: 60 });
  const history = snapshotHistory(stored(reports));
  const of = (day: string) => {
    const report = reports.findLast((one) => one.day === day) ?? expect.fail('no report');
    return openDayOf(report, history);
  };
  expect(of(addDays(FIRST, 58)).completion?.typical).toBeCloseTo(0.9 + 0.05 * (22 / 24), 2);
  expect(of(addDays(FIRST, 52))).toEqual({ settled: true, completion: null });
});
