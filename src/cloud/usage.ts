import { z } from 'zod';
import { ApiError } from '../errors.ts';
import { isRecord } from '../http/answer.ts';
import { MaybeNumber } from '../http/tolerance.ts';
import type { UsagePeriod } from './schema.ts';
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

/**
 * The contract requires date-times, but some servers accept plain dates only and quote the value in
 * a 400. After one accepted plain date, all further requests of this client use plain dates.
 * Source: docs/apis.md#usage-report.
 */
export function createDateFormats() {
  let plain = false;

  return async function withFormat<T>(
    { from_date, to_date }: UsagePeriod,
    ask: (query: Record<string, string>) => Promise<T>,
  ): Promise<T> {
    const dates = { from_date, to_date };
    if (plain) return ask(dates);
    const instants = { from_date: `${from_date}T00:00:00Z`, to_date: `${to_date}T00:00:00Z` };
    try {
      return await ask(instants);
    } catch (error) {
      if (!quotes(error, Object.values(instants))) throw error;
      const answer = await ask(dates);
      plain = true;
      return answer;
    }
  };
}

function quotes(error: unknown, values: readonly string[]): boolean {
  if (!(error instanceof ApiError) || error.status !== 400) return false;
  return values.some((value) => error.serverText?.includes(value));
}
