/** The share of the final total that days have at one age; above 1 where totals fall. */
export interface Completion {
  /** The median. */
  readonly typical: number;
  /** The 90th percentile: dividing by it overstates one of ten days. */
  readonly high: number;
  /** The number of final days with a known value at that age. */
  readonly days: number;
}

/** What the snapshots show about a day that is not final. */
export interface OpenDay {
  /** Statistics use a settled day like a final one. It is not locked, so it can still change. */
  readonly settled: boolean;
  /** How complete days are at the age of this one; null until that is learned. */
  readonly completion: Completion | null;
}

/** Whether statistics may use a value: it is final, or settled. */
export function isSettled(value: {
  readonly final: boolean;
  readonly openDay?: OpenDay | undefined;
}): boolean {
  return value.final || value.openDay?.settled === true;
}
