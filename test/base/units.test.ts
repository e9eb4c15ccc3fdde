import { expect, test } from 'vitest';
import { ageText, durationText, shortBytesText } from '../../src/base/text.ts';

test.for([
  [0, '0 s'],
  [0.437, '0.4 s'],
  [59.9, '59.9 s'],
  // Rounded to seconds, a minute is not shown as 60 s.
  [59.97, '1 min (60 s)'],
  [60, '1 min (60 s)'],
  [480.437, '8 min (480 s)'],
  [3_599.7, '1 h (3,600 s)'],
  [5_430, '1 h 30 min 30 s (5,430 s)'],
  [86_400.001, '24 h (86,400 s)'],
] as const)('a duration of %d seconds is “%s”', ([seconds, text]) => {
  expect(durationText(seconds)).toBe(text);
});

test.for([
  [0, 'just now'],
  [59_999, 'just now'],
  [-60_000, 'just now'],
  [60_000, '1 min ago'],
  [3_599_999, '59 min ago'],
  [3_600_000, '1 h ago'],
  [47 * 3_600_000, '47 h ago'],
  [48 * 3_600_000, '2 days ago'],
] as const)('a time %i ms before now was %s', ([ms, text]) => {
  const now = new Date('2026-11-20T12:00:00Z');
  expect(ageText(new Date(now.getTime() - ms), now)).toBe(text);
});

test.for([
  [0, '0 B'],
  [1_023, '1023 B'],
  [10_737_418_240, '10 GiB'],
  [1_284_918_231_040, '1.2 TiB'],
] as const)('%i bytes are %s', ([bytes, text]) => {
  expect(shortBytesText(bytes)).toBe(text);
});
