import { availableParallelism } from 'node:os';
import { z } from 'zod';
import { startChild } from './child.ts';
import { digestTest } from './costs-digests.ts';
import { type Bar, HEAD } from './costs-figures.ts';
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
  const found = await replayAll(kinds.length > 0 ? kinds : KINDS, { months, seed });
  const rows = found.map(({ row }) => row);
  const bars: readonly Bar[] = found.flatMap((one) => one.bars);
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

const Replayed = z.object({
  row: z.array(z.string()),
  bars: z.array(
    z.object({ label: z.string(), seen: z.string(), bar: z.string(), met: z.boolean() }),
  ),
});
const WITHIN_MS = 30 * 60_000;

/** Every class in a process of its own, as many at a time as there are processors. */
async function replayAll(
  kinds: readonly Kind[],
  { months, seed }: Pick<CostOptions, 'months' | 'seed'>,
) {
  const found = new Map<Kind, z.infer<typeof Replayed>>();
  const left = [...kinds];
  const work = async () => {
    for (let kind = left.shift(); kind !== undefined; kind = left.shift()) {
      process.stderr.write(`replaying ${kind} …\n`);
      const env = { KIND: kind, MONTHS: String(months), SEED: String(seed) };
      const child = startChild('bench/costs-class.ts', { env });
      found.set(kind, Replayed.parse(await child.told(WITHIN_MS)));
      await child.stop();
    }
  };
  await Promise.all(Array.from({ length: availableParallelism() }, work));
  return kinds.flatMap((kind) => found.get(kind) ?? []);
}

function columns(rows: readonly (readonly string[])[]): string {
  const widths = (rows[0] ?? []).map((_, column) =>
    Math.max(...rows.map((row) => row[column]?.length ?? 0)),
  );
  const padded = (row: readonly string[]) =>
    row.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join('  ');
  return rows.map((row) => padded(row).trimEnd()).join('\n');
}
