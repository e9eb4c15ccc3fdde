import { expect, test } from 'vitest';
import { NO_TIMING, type RequestedTiming, startTimeOf } from '../../src/domain/timing.ts';

const BERLIN = 'Europe/Berlin';

function at(text: string): RequestedTiming {
  const [, day = null, time = '', offset = null] =
    /^(?:(.{10})T)?(\d\d:\d\d)(.+)?$/.exec(text) ?? [];
  return { ...NO_TIMING, at: { day, time, offset } };
}

function begins(asked: RequestedTiming, now: string, zone: string | null = BERLIN) {
  const start = startTimeOf(asked, { zone, now: new Date(now) });
  return start.ok ? [start.at?.toISOString().slice(0, 16), ...start.warnings] : start.problems;
}

test.for<[string, string, string, string, string | null]>([
  ['later today', '20:00', '2026-11-20T12:00Z', '2026-11-20T19:00', BERLIN],
  ['tomorrow, where it is over today', '08:00', '2026-11-20T12:00Z', '2026-11-21T07:00', BERLIN],
  ['tomorrow, at this very minute', '13:00', '2026-11-20T12:00Z', '2026-11-21T12:00', BERLIN],
  ['by the clocks of Tokyo', '20:00', '2026-11-20T12:00Z', '2026-11-21T11:00', 'Asia/Tokyo'],
  ['by a half hour in Kolkata', '20:00', '2026-11-20T12:00Z', '2026-11-20T14:30', 'Asia/Kolkata'],
  ['past midnight where Berlin is', '00:30', '2026-11-20T12:00Z', '2026-11-20T23:30', BERLIN],
  ['on a date', '2026-11-22T20:00', '2026-11-20T12:00Z', '2026-11-22T19:00', BERLIN],
  ['with its zone', '2026-11-22T20:00-05:00', '2026-11-20T12:00Z', '2026-11-23T01:00', null],
  ['on a date in UTC', '2026-11-22T20:00Z', '2026-11-20T12:00Z', '2026-11-22T20:00', null],
  ['after the clocks were put on', '20:00', '2026-03-28T20:00Z', '2026-03-29T18:00', BERLIN],
  ['after the clocks were put back', '20:00', '2026-10-24T20:00Z', '2026-10-25T19:00', BERLIN],
])('a change starts %s', ([, asked, now, expected, zone]) => {
  expect(begins(at(asked), now, zone)).toEqual([expected]);
});

test('a skipped clock time means the end of the gap, with a warning', () => {
  expect(begins(at('02:30'), '2026-03-28T20:00Z')).toEqual([
    '2026-03-29T01:00',
    expect.stringContaining('skip 02:30 on 2026-03-29'),
  ]);
});

test('a repeated clock time means the first one, with a warning', () => {
  expect(begins(at('02:30'), '2026-10-24T20:00Z')).toEqual([
    '2026-10-25T00:30',
    expect.stringContaining('show 02:30 twice on 2026-10-25'),
  ]);
});

test('between the two, a repeated clock time means the second one', () => {
  expect(begins(at('02:30'), '2026-10-25T00:45Z')).toEqual(['2026-10-25T01:30']);
  expect(begins(at('2026-10-25T02:30'), '2026-10-25T00:45Z')).toEqual(['2026-10-25T01:30']);
});

test('a relative time is not affected by a clock change', () => {
  const inMs = 4 * 3_600_000;
  expect(begins({ ...NO_TIMING, inMs }, '2026-10-25T00:00Z')).toEqual(['2026-10-25T04:00']);
});

test('without timing a change starts once it is approved', () => {
  expect(begins(NO_TIMING, '2026-11-20T12:00Z', null)).toEqual([undefined]);
});

test.for<[string, string, string | null, string]>([
  ['a past time', '2026-11-19T20:00', BERLIN, 'is in the past'],
  ['the current minute', '2026-11-20T13:00', BERLIN, 'is in the past'],
  ['a past time with an offset', '2026-11-19T20:00Z', null, 'is in the past'],
  ['a time months ahead', '2027-03-01T20:00', BERLIN, 'within 30 days'],
  ['a time 31 days ahead', '2026-12-20T13:01', BERLIN, 'within 30 days'],
  ['a time in an unknown time zone', '20:00', null, 'needs a date and an offset'],
])('%s is refused as a start time', ([, asked, zone, problem]) => {
  const problems = begins(at(asked), '2026-11-20T12:00Z', zone);
  expect(problems).toEqual([{ field: 'at', problem: expect.stringContaining(problem) }]);
});
