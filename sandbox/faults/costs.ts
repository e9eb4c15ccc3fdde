import { isJson, type Json } from '../json.ts';
import { type Fault, fault } from './fault.ts';
import { changePayload } from './payloads.ts';

const ROWS = 5_000;
/** More than 16 MiB. */
const LARGE_ROWS = 62_000;

/** Shapes of the cost report that servers have returned or that the contract's text allows. */
export const COST_FAULTS: readonly Fault[] = [
  reportFault('costs-object', 'costs is one object, as in the contract, not a list', (costs) => ({
    ...(Array.isArray(costs) ? costs[0] : costs),
  })),
  reportFault('costs-null', 'costs is null', () => null),
  reportFault('costs-5000-rows', 'costs has 5,000 rows', (costs) => manyRows(costs, ROWS)),
  reportFault('costs-62000-rows', 'costs has 62,000 rows, over 16 MiB', (costs) =>
    manyRows(costs, LARGE_ROWS),
  ),
  reportFault('costs-do-not-add-up', 'The grand total is not the sum of the rows', same, 17.5),
];

/** `beyond`: what the grand total has too much. */
function reportFault(
  name: string,
  summary: string,
  change: (costs: unknown) => unknown,
  beyond = 0,
): Fault {
  const changed = (result: unknown) => {
    if (!isJson(result)) return result;
    const costs = change(result.costs);
    return { ...result, costs, grandTotalCredits: total(costs) + beyond };
  };
  return fault(name, summary, {
    only: ['usage cost'],
    change: (reply) => changePayload(reply, changed),
  });
}

function same(costs: unknown): unknown {
  return costs;
}

function manyRows(costs: unknown, length: number): readonly Json[] {
  const rows = Array.isArray(costs) ? costs.filter(isJson) : [];
  if (rows.length === 0) return [];
  return Array.from({ length }, (_, index) => {
    const number = String(index).padStart(12, '0');
    const entity = { entityId: `00000000-0000-4000-8000-${number}`, entityName: `entity ${index}` };
    return { ...rows[index % rows.length], ...entity };
  });
}

function total(costs: unknown): number {
  const rows = Array.isArray(costs) ? costs : [costs];
  return rows.filter(isJson).reduce((sum, row) => sum + Number(row.totalCredits ?? 0), 0);
}
