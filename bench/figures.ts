import type { Exchange } from './load.ts';

/** What one side showed in one round. */
export interface Figures {
  readonly readyMs: number;
  readonly readyCpuMs: number;
  /** The slowest acknowledgement of the first commands after a start. */
  readonly coldMaxMs: number;
  readonly ackP50Ms: number;
  readonly ackP99Ms: number;
  readonly ackMaxMs: number;
  readonly not200: number;
  readonly over1s: number;
  /** Acknowledged commands whose answer never came. */
  readonly unanswered: number;
  readonly cpuMsPerCommand: number;
  readonly rssMib: number;
  readonly acksPerSecond: number;
  readonly answersPerSecond: number;
  /** Of the generator: how late it sent what was due. */
  readonly lateP99Ms: number;
}

const SLOW_MS = 1_000;

/** The smallest value that at least this share of all does not exceed. */
export function percentile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.max(0, Math.ceil(share * sorted.length) - 1)] ?? Number.NaN;
}

/** For an even count the mean of the two in the middle. */
export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  const middle = sorted.slice(Math.ceil(sorted.length / 2) - 1, Math.floor(sorted.length / 2) + 1);
  return middle.reduce((sum, value) => sum + value, 0) / middle.length;
}

export type Acknowledgements = Pick<
  Figures,
  'ackP50Ms' | 'ackP99Ms' | 'ackMaxMs' | 'not200' | 'over1s' | 'lateP99Ms'
>;

/** Whatever was not acknowledged has its time too: leaving it out would make failing look fast. */
export function acknowledgements(exchanges: readonly Exchange[]): Acknowledgements {
  const times = exchanges.map(({ ms }) => ms);
  return {
    ackP50Ms: percentile(times, 0.5),
    ackP99Ms: percentile(times, 0.99),
    ackMaxMs: percentile(times, 1),
    not200: exchanges.filter(({ outcome }) => outcome !== '200').length,
    over1s: times.filter((ms) => ms > SLOW_MS).length,
    lateP99Ms: percentile(
      exchanges.map(({ lateMs }) => lateMs),
      0.99,
    ),
  };
}
