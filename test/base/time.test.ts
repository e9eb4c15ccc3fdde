import { expect, test } from 'vitest';
import { DayTextSchema, parseConfig } from '../../src/base/problem.ts';

test.for(['2026-01-31', '2028-02-29', '2000-12-01'])('%s is a day of the calendar', (day) => {
  expect(parseConfig(DayTextSchema, day)).toEqual({ ok: true, value: day });
});

test.for([
  ...['2026-02-30', '2026-02-29', '2026-13-01', '1999-12-31', '12026-01-31', '+012026-01-31'],
  ...['2026-01', '2026-01-31T00:00', '2026-01-3', '2026-1-31', '26-01-31', 'tomorrow'],
])('%s is not a day of the calendar', (day) => {
  const hint = 'a UTC day, for example 2026-01-01';
  const problems = [{ where: '', problem: `is not a day: “${day}”`, hint }];
  expect(parseConfig(DayTextSchema, day)).toEqual({ ok: false, problems });
});

test('what is not a day is not compared with other days', () => {
  const recent = DayTextSchema.refine((day) => day > '2026-06-01', 'is too early');
  const problems = [{ problem: 'is not a day: “2026-02-30”' }];
  expect(parseConfig(recent, '2026-02-30')).toMatchObject({ ok: false, problems });
});
