import { z } from 'zod';
import { isRecord } from '../base/http-answer.ts';
import type { StreamedArray } from '../base/http-rows.ts';
import { MaybeNumber } from '../base/http-rows.ts';
import { KNOWN_FIELDS, readUsageCost, type UsageCost } from './usage-row.ts';

/** The contract describes one object; live servers send a list; both may be absent. */
const Costs = z
  .unknown()
  .optional()
  .transform((value, { issues }): UsageCost[] => {
    const rows = listOf(value);
    if (rows?.every(isRecord)) return rows.map(readUsageCost);
    issues.push({ code: 'custom', input: value, message: 'must be a list of rows, or one row' });
    return z.NEVER;
  });

function listOf(value: unknown): readonly unknown[] | null {
  if (Array.isArray(value)) return value;
  if (value === undefined || value === null) return [];
  if (!isRecord(value)) return null;
  return KNOWN_FIELDS.some((field) => field in value) ? [value] : [];
}

export const UsageCosts = z.looseObject({ grandTotalCredits: MaybeNumber, costs: Costs });

export type UsageCosts = z.infer<typeof UsageCosts>;

export type TakeUsageRows = (rows: readonly UsageCost[]) => void;

/** Reads the rows of a report while it arrives. Without `takeRows`, they are added to the report. */
export function createRowSink(takeRows?: () => TakeUsageRows) {
  let costs: UsageCost[] = [];
  const collect = (): TakeUsageRows => {
    costs = [];
    return (rows) => {
      for (const row of rows) costs.push(row);
    };
  };
  let take: TakeUsageRows | null = null;
  const streamed: StreamedArray = {
    path: ['result', 'costs'],
    open: () => {
      const own = (takeRows ?? collect)();
      take = own;
      return (rows) => {
        if (!rows.every(isRecord)) return false;
        own(rows.map(readUsageCost));
        return true;
      };
    },
  };
  /** Adds the last rows, which are still in the report. */
  const complete = (report: UsageCosts): UsageCosts => {
    take?.(report.costs);
    return { ...report, costs };
  };
  return { streamed, complete };
}
