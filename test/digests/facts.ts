import { SECTIONS } from '../../src/config/digest-options.ts';
import { addDays, daysBetween, weekdayOf } from '../../src/costs/calendar/day.ts';
import { dayStates } from '../../src/costs/ledger/ledger.ts';
import type { CostRow } from '../../src/costs/ledger/row.ts';
import type { DigestFacts } from '../../src/digests/facts.ts';
import { rowsNeeded } from '../../src/digests/measure.ts';
import { row, TODAY, warehouseRow } from '../costs/rows.ts';

/** Nine weeks of two services and their warehouse: quiet weekends, the last two days not final. */
export function nineWeeks(today = TODAY, openDays = 2): readonly CostRow[] {
  return daysBetween(addDays(today, -63), addDays(today, -1)).flatMap((day, index) => {
    const share = weekdayOf(day) > 4 ? 0.4 : 1;
    const locked = day < addDays(today, -openDays);
    const wobble = 1 + ((index * 7) % 5) / 100;
    const over = { day, locked };
    return [
      row({ ...over, credits: 100 * share * wobble }),
      row({ ...over, entityId: 's-2', entityName: 'staging', credits: 30 * share * wobble }),
      warehouseRow({ ...over, credits: 12, metrics: { storageCredits: 12_000_000 } }),
    ];
  });
}

export function factsFor(over: Partial<DigestFacts> = {}): DigestFacts {
  const rows = over.read?.rows ?? nineWeeks();
  const today = over.today ?? TODAY;
  return {
    read: { rows, fetchedAt: new Date('2026-11-20T08:00:00Z'), problems: [], gaps: [] },
    today,
    states: dayStates(rows, rowsNeeded(today)),
    covers: { first: '2026-11-19', last: '2026-11-19' },
    selector: {},
    scope: null,
    options: { period: 'day', sections: [...SECTIONS], minimumCredits: null, increasesOnly: false },
    posted: [],
    changes: [],
    attention: { anomalies: null, budgets: [] },
    next: new Date('2026-11-23T08:30:00Z'),
    ...over,
  };
}

export function reading(rows: readonly CostRow[]): Pick<DigestFacts, 'read'> {
  return { read: { ...factsFor().read, rows } };
}
