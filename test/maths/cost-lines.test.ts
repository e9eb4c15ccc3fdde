import fc from 'fast-check';
import { expect, test } from 'vitest';
import { dayNumber } from '../../src/base/time.ts';
import { lineChanges } from '../../src/costs/comparison.ts';
import { linesOf, tablePart } from '../../src/costs/table.ts';
import { dayStates } from '../../src/maths/days.ts';
import { OTHER_LINES } from '../../src/maths/lines.ts';
import { readPeriod } from '../../src/maths/period.ts';
import type { CostRow } from '../../src/maths/rows.ts';
import { answerMessage } from '../../src/slack/answer.ts';
import { daily, row, TODAY, totalOf } from './rows.ts';

function asked(text: string) {
  const reading = readPeriod(text, TODAY);
  return reading.ok ? reading.period : expect.fail(text);
}

function services(count: number, name: string): CostRow[] {
  return Array.from({ length: count }, (_, index) =>
    row({ entityId: `id-${index}`, entityName: `${name}-${index}`, credits: 1 + index }),
  );
}

/** Slack takes the whole table: nothing is left out of it without a sum. */
function expectFits(by: 'service' | 'day', lines: ReturnType<typeof linesOf>): void {
  const { blocks } = answerMessage({ title: 'Costs', parts: [tablePart(by, lines, null)] });
  expect(JSON.stringify(blocks)).not.toContain('not shown');
}

test('services that do not fit into a table are one line, and the lines add up', () => {
  const counts = fc.integer({ min: 1, max: 400 });
  const names = fc.constantFrom('s', 'n'.repeat(95));
  const property = fc.property(counts, names, (count, name) => {
    const rows = services(count, name);
    const period = asked('7d');
    const question = { by: 'service', period, top: null } as const;
    const lines = linesOf(question, rows, dayStates(rows, period), null);
    expect(lines.reduce((sum, { total }) => sum + total, 0)).toBe(totalOf(rows, period));
    const others = lines.find(({ key }) => key === OTHER_LINES);
    const hidden = Number(/\d+/.exec(others?.name ?? '0'));
    expect(lines.length - (others ? 1 : 0) + hidden).toBe(count);
    expectFits('service', lines);
  });
  fc.assert(property, { numRuns: 20 });
});

test('a tag called “other” has its own change', () => {
  const labels = { tag: 'other', team: 'no team' };
  const rows = [...daily('2026-11-12', [4], { labels }), ...daily('2026-11-19', [9], { labels })];
  const period = asked('yesterday');
  const changes = lineChanges(rows, rows, 'tag', { now: period, before: asked('2026-11-12') });
  const lines = linesOf({ by: 'tag', period, top: null }, rows, dayStates(rows, period), changes);
  const part = tablePart('tag', lines, changes);
  const [row] = part.kind === 'table' ? part.rows : [];
  expect(row?.at(-1)).toEqual({ value: 5, text: '+5.0' });
});

test('months sort by the calendar, and the others last', () => {
  const rows = [
    ['2026-08-31', 1] as const,
    ['2026-09-01', 5] as const,
    ['2026-10-01', 2] as const,
  ].flatMap(([day, credits]) => daily(day, [credits]));
  const period = asked('2026-08-31..2026-10-01');
  const names = (top: number | null) => {
    const lines = linesOf({ by: 'month', period, top }, rows, dayStates(rows, period), null);
    const part = tablePart('month', lines, null);
    return part.kind === 'table' ? part.rows.map(([name]) => name) : [];
  };
  const sortedBy = (text: string, value: number) => ({ value, text });
  expect(names(null)).toEqual([
    sortedBy('Aug 2026, 31', dayNumber('2026-08-01')),
    sortedBy('Sep 2026', dayNumber('2026-09-01')),
    sortedBy('Oct 2026, 1', dayNumber('2026-10-01')),
  ]);
  expect(names(1)).toEqual([
    sortedBy('Sep 2026', dayNumber('2026-09-01')),
    { value: null, text: 'Other (2)' },
  ]);
});

test('of 400 days the earliest are one line, and the lines add up', () => {
  const rows = daily('2025-10-16', Array(400).fill(1.25));
  const period = asked('400d');
  const question = { by: 'day', period, top: null } as const;
  const lines = linesOf(question, rows, dayStates(rows, period), null);
  expect(lines[0]?.name).toMatch(/^Other \(\d{3}\)$/);
  expect(lines.at(-1)?.name).toBe('Thu 19 Nov');
  expect(lines.reduce((sum, { total }) => sum + total, 0)).toBe(totalOf(rows, period));
  expectFits('day', lines);
});
