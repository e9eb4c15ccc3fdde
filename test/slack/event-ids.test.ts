import { expect, test } from 'vitest';
import { firstDeliveries } from '../../src/slack/listeners.ts';

test('an event is new once among the newest 1,000', () => {
  const isFirst = firstDeliveries();
  expect(isFirst('Ev0')).toBe(true);
  expect(isFirst('Ev0')).toBe(false);
  for (let n = 1; n <= 999; n += 1) isFirst(`Ev${n}`);
  expect(isFirst('Ev0')).toBe(false);
  isFirst('Ev1000');
  expect(isFirst('Ev0')).toBe(true);
});
