import { addDays, type Day } from '../../src/base/time.ts';
import type { WatchedLine } from '../../src/costs/judge-lines.ts';
import type { DayValue } from '../../src/maths/rows.ts';

export const FIRST = '2026-09-01';

/** A day `count` days after the first one. */
export function at(count: number): Day {
  return addDays(FIRST, count);
}

/** Ten credits a day with a little noise, except on the given days; all but the last are final. */
export function steady(
  days: number,
  but: Readonly<Record<number, number>> = {},
  openFrom = days,
): readonly DayValue[] {
  return Array.from({ length: days }, (_, index) => ({
    day: at(index),
    value: but[index] ?? 10 + ((index * 7) % 5) * 0.1,
    final: index < openFrom,
  }));
}

export function line(values: readonly DayValue[], more: Partial<WatchedLine> = {}): WatchedLine {
  const whose = { entityId: 'e1', entityName: 'prod', kind: 'service', serviceId: 'e1' } as const;
  const metric = { metric: 'compute', name: 'prod · compute' };
  return { id: 'e1 computeCredits', ...whose, ...metric, values, ...more };
}
