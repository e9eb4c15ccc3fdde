import { expect, test } from 'vitest';
import { ageText, shortBytesText, spanText } from '../../src/base/text.ts';

test.for([
  [0, '0 s'],
  [437, '0.4 s'],
  [59_900, '59.9 s'],
  [59_970, '1 min'],
  [60_000, '1 min'],
  [480_437, '8 min'],
  [3_599_700, '1 h'],
  [5_430_000, '91 min'],
  [18_060_000, '5 h 1 min'],
  [26 * 3_600_000, '26 h'],
  [48 * 3_600_000, '2 days'],
  [50 * 3_600_000, '50 h'],
  [14 * 86_400_000, '14 days'],
] as const)('a time of %d ms is “%s”', ([ms, text]) => {
  expect(spanText(ms)).toBe(text);
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
