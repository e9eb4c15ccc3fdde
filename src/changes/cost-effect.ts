/** The estimated cost effect. Stored, so that every card shows the same estimate. */
export interface CostEffect {
  /** The whole estimate, with its range, basis and horizon. */
  readonly text: string;
  /** Missing where the estimate is unknown, and in changes of older releases. */
  readonly summary?: CostSummary | undefined;
  /** Compute credits per day, negative for savings; null if unknown. */
  readonly perDay: number | null;
  /** The effect relative to the current cost: −1 saves all of it. */
  readonly share: number | null;
}

/** The estimate in few words. */
export interface CostSummary {
  /** `−18.0 credits per day`, or of a schedule per week. */
  readonly perDay: string;
  /** The same with its range, and what continues: ` (−9.0 to −26.0) · storage continues`. */
  readonly withRange: string;
}

/** How a command affects the costs of its target. */
export type EffectKind = 'stop' | 'start' | 'scale' | 'create' | 'schedule';
