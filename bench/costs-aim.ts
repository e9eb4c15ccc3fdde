export interface Aim {
  readonly label: string;
  readonly seen: number;
  readonly aim: string;
  readonly met: boolean;
}

/** What all back-tests start their chance from: the same every time. */
export const SEED = 2026;

export function atMost(label: string, seen: number, most: number): Aim {
  return { label, seen, aim: `≤ ${Number(most.toFixed(2))}`, met: seen <= most };
}

export function atLeast(label: string, seen: number, least: number): Aim {
  return { label, seen, aim: `≥ ${least}`, met: seen >= least };
}
