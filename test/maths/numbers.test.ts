import { expect, test } from 'vitest';
import {
  changeText,
  creditsText,
  figure,
  shareText,
  signedFigure,
} from '../../src/maths/numbers.ts';
import { microOf } from '../../src/maths/rows.ts';

test.for<[number, string]>([
  [4182.6, '4,182.6'],
  [238.44, '238.4'],
  [12_340.4, '12,340'],
  [1, '1.0'],
  [0.04, '0.04'],
  [0.004, '<0.01'],
  [-0.004, '>−0.01'],
  [0, '0'],
  [-18, '−18.0'],
  [9_999.97, '10,000.0'],
])('%d credits read %s', ([credits, text]) => {
  expect(figure(microOf(credits))).toBe(text);
});

test('amounts are named credits', () => {
  expect(creditsText(microOf(4182.6))).toBe('4,182.6 credits');
});

test.for<[number, string]>([
  [55.1, '+55.1'],
  [-26, '−26.0'],
  [0, '±0'],
  [0.001, '+0.01'],
])('a difference of %d reads %s', ([credits, text]) => {
  expect(signedFigure(microOf(credits))).toBe(text);
});

test.for<[number, string]>([
  [0.0406, '+4%'],
  [-0.51, '−51%'],
  [1.99, '+199%'],
  [2.1, '×3.1'],
  [0.004, '±0%'],
  [-0.004, '±0%'],
])('a change by the fraction %d reads %s', ([fraction, text]) => {
  expect(changeText(fraction)).toBe(text);
});

test.for<[number, string]>([
  [0.083, '8%'],
  [1, '100%'],
  [0, '0%'],
  [0.001, '<1%'],
  [-0.02, '−2%'],
])('a share of %d reads %s', ([fraction, text]) => {
  expect(shareText(fraction)).toBe(text);
});
