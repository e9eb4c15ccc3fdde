import { expect, test } from 'vitest';
import { durationText } from '../../../src/intent/answers/units.ts';

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
