import { expect, test } from 'vitest';
import { addDays, type Day } from '../../../src/costs/calendar/day.ts';
import { type StoppedTime, scheduleSavings } from '../../../src/costs/effect/schedule-savings.ts';
import type { DayValue } from '../../../src/costs/ledger/row.ts';

const TODAY: Day = '2026-11-23';
/** Final days from 27 October to 9 November. */
const DAYS = Array.from({ length: 14 }, (_, index) => addDays('2026-10-27', index));

const night = (day: Day, over: Partial<StoppedTime> = {}): StoppedTime => ({
  ...{ from: new Date(`${day}T00:00Z`), until: new Date(`${day}T06:00Z`), bySchedule: true },
  ...over,
});

/** Two credits per running hour, with a stop of six hours in each night. */
const daysOf = (value: (day: Day) => number = () => 36): readonly DayValue[] =>
  DAYS.map((day) => ({ day, value: value(day), final: true }));
const NIGHTS = DAYS.map((day) => night(day));

test('six stopped hours in seven nights save what running hours cost', () => {
  const expected = { first: '2026-11-03', last: '2026-11-09', credits: 7 * 6 * 2 };
  expect(scheduleSavings(daysOf(), NIGHTS, TODAY)).toEqual(expected);
});

test('a whole weekend without costs counts fully', () => {
  const weekend = { from: new Date('2026-11-07T00:00Z'), until: new Date('2026-11-09T00:00Z') };
  const costs = daysOf((day) => (['2026-11-07', '2026-11-08'].includes(day) ? 0 : 48));
  const saved = scheduleSavings(costs, [{ ...weekend, bySchedule: true }], TODAY);
  expect(saved?.credits).toBe(96);
});

test.for<[string, number, readonly DayValue[], readonly StoppedTime[]]>([
  ['the cheapest running hour counts', 7 * 6, daysOf((day) => (day === DAYS[0] ? 18 : 36)), NIGHTS],
  [
    'a day that cost as much as a whole one saved nothing',
    6 * 6 * 2,
    daysOf((day) => (day === '2026-11-05' ? 48 : 36)),
    NIGHTS,
  ],
  [
    'hours in which a person stopped it do not count',
    6 * 6 * 2,
    daysOf(),
    NIGHTS.map((one, index) => (index === 13 ? { ...one, bySchedule: false } : one)),
  ],
])('%s', ([, credits, costs, stopped]) => {
  expect(scheduleSavings(costs, stopped, TODAY)?.credits).toBeCloseTo(credits);
});

test.for<[string, readonly DayValue[], readonly StoppedTime[]]>([
  ['no day is final', daysOf().map((one) => ({ ...one, final: false })), NIGHTS],
  ['only two days show the rate', daysOf().slice(0, 2), NIGHTS],
  ['no schedule stopped it', daysOf(), NIGHTS.map((one) => ({ ...one, bySchedule: false }))],
  [
    'it ran less than six hours on each day',
    daysOf(),
    DAYS.map((day) => night(day, { until: new Date(`${day}T19:00Z`) })),
  ],
  [
    'the final days are too old',
    daysOf().map((one) => ({ ...one, day: addDays(one.day, -40) })),
    NIGHTS,
  ],
  ['every day cost as much as before', daysOf(() => 48), NIGHTS.slice(0, 1)],
])('no figure is shown when %s', ([, costs, stopped]) => {
  expect(scheduleSavings(costs, stopped, TODAY)).toBeNull();
});
