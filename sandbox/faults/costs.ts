import { isObject, type JsonObject } from '../api/call.ts';
import type { Fault } from './fault.ts';
import { bend } from './payloads.ts';

const ROWS = 5_000;

/** Shapes of the cost report that live servers, or the contract's own words, have produced. */
export const COST_FAULTS: readonly Fault[] = [
  report('costs-object', 'costs is one object, as the contract says, not a list', (costs) => ({
    ...(Array.isArray(costs) ? costs[0] : costs),
  })),
  report('costs-null', 'costs is null', () => null),
  report('costs-5000-rows', 'costs has 5,000 rows', (costs) => manyRows(costs)),
  {
    name: 'costs-do-not-add-up',
    summary: 'The grand total is not the sum of the rows',
    only: ['usage cost'],
    answered: (reply) =>
      bend(reply, (result) =>
        isObject(result)
          ? { ...result, grandTotalCredits: Number(result.grandTotalCredits) + 17.5 }
          : result,
      ),
  },
];

function report(name: string, summary: string, change: (costs: unknown) => unknown): Fault {
  return {
    name,
    summary,
    only: ['usage cost'],
    answered: (reply) =>
      bend(reply, (result) => {
        if (!isObject(result)) return result;
        const costs = change(result.costs);
        return { ...result, costs, grandTotalCredits: total(costs) };
      }),
  };
}

function manyRows(costs: unknown): readonly JsonObject[] {
  const rows = Array.isArray(costs) ? costs.filter(isObject) : [];
  if (rows.length === 0) return [];
  return Array.from({ length: ROWS }, (_, index) => {
    const number = String(index).padStart(12, '0');
    const entity = { entityId: `00000000-0000-4000-8000-${number}`, entityName: `entity ${index}` };
    return { ...rows[index % rows.length], ...entity };
  });
}

function total(costs: unknown): number {
  const rows = Array.isArray(costs) ? costs : [costs];
  return rows.filter(isObject).reduce((sum, row) => sum + Number(row.totalCredits ?? 0), 0);
}
