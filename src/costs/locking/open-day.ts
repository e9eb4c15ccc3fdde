import type { OpenDay } from '../ledger/row.ts';

/** Whether statistics may use a value: it is final, or settled. */
export function isSettled(value: {
  readonly final: boolean;
  readonly openDay?: OpenDay | undefined;
}): boolean {
  return value.final || value.openDay?.settled === true;
}
