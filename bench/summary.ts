import { type Figures, median } from './figures.ts';
import type { SideName } from './side.ts';

export type Rounds = Readonly<Record<SideName, readonly Figures[]>>;

interface Row {
  readonly figure: keyof Figures;
  readonly label: string;
  readonly digits: number;
  /** How the rounds are told as one: what is rare must not be averaged away. */
  readonly over: 'median' | 'most' | 'sum';
  readonly aim?: {
    readonly of: 'ratio' | 'value';
    readonly least?: number;
    readonly most?: number;
  };
}

const ROWS: readonly Row[] = [
  { figure: 'ackP50Ms', label: 'ack p50, ms', digits: 2, over: 'median' },
  {
    figure: 'ackP99Ms',
    label: 'ack p99, ms',
    digits: 2,
    over: 'median',
    aim: { of: 'ratio', most: 1 },
  },
  { figure: 'ackMaxMs', label: 'ack max, ms', digits: 1, over: 'most' },
  { figure: 'coldMaxMs', label: 'ack max after a start, ms', digits: 1, over: 'most' },
  { figure: 'not200', label: 'not 200', digits: 0, over: 'sum', aim: { of: 'value', most: 0 } },
  { figure: 'over1s', label: 'over 1 s', digits: 0, over: 'sum', aim: { of: 'value', most: 0 } },
  {
    figure: 'unanswered',
    label: 'unanswered',
    digits: 0,
    over: 'sum',
    aim: { of: 'value', most: 0 },
  },
  { figure: 'cpuMsPerCommand', label: 'CPU per command, ms', digits: 2, over: 'median' },
  {
    figure: 'readyMs',
    label: 'start to ready, ms',
    digits: 0,
    over: 'median',
    aim: { of: 'ratio', most: 1.4 },
  },
  { figure: 'readyCpuMs', label: 'CPU until ready, ms', digits: 0, over: 'median' },
  {
    figure: 'rssMib',
    label: 'RSS after the load, MiB',
    digits: 0,
    over: 'median',
    aim: { of: 'ratio', most: 1 },
  },
  {
    figure: 'acksPerSecond',
    label: 'acks/s, 100 in flight',
    digits: 0,
    over: 'median',
    aim: { of: 'ratio', least: 0.9 },
  },
  { figure: 'answersPerSecond', label: 'answers/s, same', digits: 0, over: 'median' },
  { figure: 'lateP99Ms', label: 'generator late p99, ms', digits: 2, over: 'median' },
];

export interface Line extends Pick<Row, 'figure' | 'label' | 'digits'> {
  readonly aim: string;
  readonly blank: number;
  readonly bare: number;
  readonly signalbox: number;
  /** Of signalbox to bare, and the lowest and highest of the rounds; null for counts. */
  readonly ratio: Ratio | null;
  readonly met: boolean | null;
}

interface Ratio {
  readonly of: number;
  readonly from: number;
  readonly to: number;
}

/** Every figure over all rounds, with what it was meant to be. */
export function summary(rounds: Rounds): readonly Line[] {
  return ROWS.map((row) => {
    const of = (side: SideName) => overRounds(row, rounds[side]);
    const ratio = row.over === 'sum' ? null : ratioOf(row, rounds);
    const { figure, label, digits } = row;
    const sides = { blank: of('blank'), bare: of('bare'), signalbox: of('signalbox') };
    const met = isMet(row, sides.signalbox, ratio);
    return { figure, label, digits, ...sides, ratio, aim: aimOf(row), met };
  });
}

function overRounds({ figure, over }: Row, figures: readonly Figures[]): number {
  const values = figures.map((each) => each[figure]);
  if (over === 'most') return Math.max(...values);
  return over === 'sum' ? values.reduce((sum, value) => sum + value, 0) : median(values);
}

function ratioOf(row: Row, { bare, signalbox }: Rounds): Ratio {
  const each = signalbox.map((ours, index) => {
    const theirs = bare[index]?.[row.figure];
    return theirs === undefined ? Number.NaN : ours[row.figure] / theirs;
  });
  const of = overRounds(row, signalbox) / overRounds(row, bare);
  return { of, from: Math.min(...each), to: Math.max(...each) };
}

function isMet({ aim }: Row, value: number, ratio: Ratio | null): boolean | null {
  if (!aim) return null;
  const { least = Number.NEGATIVE_INFINITY, most = Number.POSITIVE_INFINITY } = aim;
  const judged = aim.of === 'ratio' ? (ratio?.of ?? Number.NaN) : value;
  return judged >= least && judged <= most;
}

function aimOf({ aim }: Row): string {
  if (!aim) return '';
  if (aim.most === 0) return 'none';
  return aim.least === undefined ? `≤ ${aim.most}` : `≥ ${aim.least}`;
}
