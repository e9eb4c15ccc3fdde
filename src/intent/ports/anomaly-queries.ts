import type { Answer } from '../answers/answer.ts';

/** What the watch over costs knows, for whoever asks. */
export interface WatchDesk {
  readonly anomalies: () => Promise<Answer>;
  /** How often it would have posted in so many days of the organisation's own past. */
  readonly backtest: (days: number) => Promise<Answer>;
  readonly budgets: () => Promise<Answer>;
}
