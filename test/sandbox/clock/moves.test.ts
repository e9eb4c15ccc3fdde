import { expect, test } from 'vitest';
import { clockSteps, lastMorning, targetOf } from '../../../sandbox/clock/moves.ts';
import { createWorldClock } from '../../../sandbox/clock/world-clock.ts';
import type { ClockMove } from '../../../sandbox/protocol.ts';

const at = (text: string) => new Date(text);
const iso = (date: Date | undefined) => date?.toISOString();

test.for<[ClockMove, from: string, to: string]>([
  ['5-minutes', '2026-11-20T12:00:00.000Z', '2026-11-20T12:05:00.000Z'],
  ['1-hour', '2026-11-20T12:00:00.000Z', '2026-11-20T13:00:00.000Z'],
  ['1-day', '2026-11-20T12:00:00.000Z', '2026-11-21T12:00:00.000Z'],
  ['next-morning', '2026-11-20T12:00:00.000Z', '2026-11-21T08:00:00.000Z'],
  ['next-morning', '2026-11-20T02:00:00.000Z', '2026-11-20T08:00:00.000Z'],
  ['next-morning', '2026-11-20T08:00:00.000Z', '2026-11-21T08:00:00.000Z'],
  // The night in which the clocks in Berlin are set forward.
  ['next-morning', '2026-03-28T20:00:00.000Z', '2026-03-29T07:00:00.000Z'],
])('the move %s from %s leads to %s', ([move, from, to]) => {
  expect(iso(targetOf(move, at(from)))).toBe(to);
});

test.for<[now: string, morning: string]>([
  ['2026-11-20T12:00:00.000Z', '2026-11-20T08:00:00.000Z'],
  ['2026-11-20T08:00:00.000Z', '2026-11-20T08:00:00.000Z'],
  ['2026-11-20T07:59:59.000Z', '2026-11-19T08:00:00.000Z'],
])('the last morning before %s is %s', ([now, morning]) => {
  expect(iso(lastMorning(at(now)))).toBe(morning);
});

test('a day is moved in round steps of half an hour, an hour in steps of five minutes', () => {
  const day = clockSteps(at('2026-11-20T12:10:00Z'), at('2026-11-21T12:10:00Z'));
  expect(day).toHaveLength(49);
  expect(iso(day[0])).toBe('2026-11-20T12:30:00.000Z');
  expect(day.map(iso)).toContain('2026-11-21T08:00:00.000Z');
  expect(iso(day.at(-1))).toBe('2026-11-21T12:10:00.000Z');

  const hour = clockSteps(at('2026-11-20T12:00:00Z'), at('2026-11-20T13:00:00Z'));
  expect(hour).toHaveLength(12);
  expect(new Set(hour.map(iso)).size).toBe(12);
});

test('no step leads back', () => {
  expect(clockSteps(at('2026-11-20T12:00:00Z'), at('2026-11-20T11:00:00Z'))).toEqual([]);
});

test('the clock of the sandbox counts on from its start and never moves back', () => {
  const machine = { ms: 1_000_000 };
  const clock = createWorldClock(at('2026-11-20T12:00:00Z'), () => machine.ms);
  machine.ms += 2_000;
  expect(iso(clock.now())).toBe('2026-11-20T12:00:02.000Z');
  clock.moveTo(at('2026-11-20T13:00:00Z'));
  clock.moveTo(at('2026-11-20T12:30:00Z'));
  expect(iso(clock.now())).toBe('2026-11-20T13:00:00.000Z');
  expect(clock.offsetMs()).toBe(clock.now().getTime() - machine.ms);
});
