import { digestTest } from './costs-digests.ts';
import { type Bar, barsOf, HEAD, rowOf } from './costs-figures.ts';
import { samplesOf } from './costs-replay.ts';
import { KINDS, type Kind } from './costs-worlds.ts';
import { transportTest } from './transport.ts';

const SERVICES = [2_000, 6_500];
const MONTHS = 40;

export interface CostOptions {
  /** Months of each class. */
  readonly months: number;
  readonly seed: number;
  /** Only these classes, without the digests and the transport; all if empty. */
  readonly kinds: readonly Kind[];
}

/** `[months] [seed] [class …]`; by default 40 months of every class, with seeds drawn anew. */
export function costOptions([months, seed, ...kinds]: readonly string[]): CostOptions {
  return {
    months: months === undefined ? MONTHS : Number(months),
    seed: seed === undefined ? Math.floor(Math.random() * 1e6) : Number(seed),
    kinds: KINDS.filter((kind) => kinds.includes(kind)),
  };
}

/**
 * The library of scenarios, replayed day by day through the reader, budgets, judgement and digests of
 * the product; and the transport of large reports.
 */
export async function costMeasurements({ months, seed, kinds }: CostOptions): Promise<string> {
  const rows: (readonly string[])[] = [];
  const bars: Bar[] = [];
  for (const kind of kinds.length > 0 ? kinds : KINDS) {
    process.stderr.write(`replaying ${kind} …\n`);
    const samples = await samplesOf(kind, months, seed);
    rows.push(rowOf(kind, samples));
    bars.push(...barsOf(kind, samples));
  }
  const digests = kinds.length > 0 ? [] : await digestTest(seed);
  const missed = [...bars, ...digests].filter(({ met }) => !met);
  const count = bars.length + digests.length;
  const texts = [
    `${months} months of each class, seed ${seed}. Median error of the month in % by morning; covered: by the range of 80%, in %.`,
    columns([HEAD, ...rows]),
    ...digests.map(({ label, seen }) => `${label}: ${seen}`),
    `Bars: ${count - missed.length} of ${count} met`,
    ...missed.map(({ label, seen, bar }) => `missed: ${label}: ${seen}, bar ${bar}`),
  ];
  const transport = kinds.length > 0 ? [] : [await transportTest(SERVICES)];
  return [...texts, ...transport].join('\n\n');
}

function columns(rows: readonly (readonly string[])[]): string {
  const widths = (rows[0] ?? []).map((_, column) =>
    Math.max(...rows.map((row) => row[column]?.length ?? 0)),
  );
  const padded = (row: readonly string[]) =>
    row.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join('  ');
  return rows.map((row) => padded(row).trimEnd()).join('\n');
}
