import { expect, test } from 'vitest';
import { labelInterval, ticks } from '../../../sandbox/page/blocks/chart-model.ts';
import { nextOrder, sortRows } from '../../../sandbox/page/blocks/table-order.ts';

const text = (words: string) => ({ type: 'raw_text', text: words });
const number = (value: number) => ({ type: 'raw_number', value, text: value.toFixed(1) });
const ROWS = [
  [text('b'), number(9)],
  [text('a'), number(100)],
  [text('c'), number(20)],
];
const names = (order: Parameters<typeof sortRows>[1]) =>
  sortRows(ROWS, order).map(([cell]) => cell?.text);

test('a column of numbers sorts by value and not as text', () => {
  expect(names({ column: 1, descending: false })).toEqual(['b', 'c', 'a']);
  expect(names({ column: 1, descending: true })).toEqual(['a', 'c', 'b']);
});

test('the third press on a column head restores the order of the bot', () => {
  const first = nextOrder(null, 0);
  const second = nextOrder(first, 0);
  const third = nextOrder(second, 0);
  expect([first, second, third].map(names)).toEqual([
    ['a', 'b', 'c'],
    ['c', 'b', 'a'],
    ['b', 'a', 'c'],
  ]);
});

test('another column head sorts ascending first', () => {
  expect(nextOrder({ column: 0, descending: true }, 1)).toEqual({ column: 1, descending: false });
});

test.for([
  ['230 40', '0 100 200 300'],
  ['5 -3 8', '-5 0 5 10'],
  ['0.3', '0 0.1 0.2 0.3'],
  ['0', '0 0.25'],
])('the axis for the values %s has the round numbers %s', ([values = '', expected]) => {
  expect(ticks(values.split(' ').map(Number)).join(' ')).toBe(expected);
});

test('labels that would overlap are left out', () => {
  const days = Array.from({ length: 19 }, (_, at) => `${at + 1} Nov`);
  expect(labelInterval(days, 500)).toBe(2);
  expect(labelInterval(days.slice(0, 5), 500)).toBe(1);
  const short = Array.from({ length: 20 }, (_, at) => (at > 17 ? `${at + 1}*` : `${at + 1}`));
  expect(labelInterval(short, 500)).toBe(1);
});
