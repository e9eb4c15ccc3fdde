import { availableParallelism } from 'node:os';
import { z } from 'zod';
import { startChild } from './child.ts';
import { digestTest } from './costs-digests.ts';
import { type Bar, HEAD } from './costs-figures.ts';
import { KINDS, type Kind } from './costs-worlds.ts';

const MONTHS = 40;

export interface CostOptions {
  /** Months of each class. */
  readonly months: number;
  readonly seed: number;
  /** Only these classes, without the digests; all if empty. */
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
 * the product. Tells each class as soon as it is replayed.
 */
export async function costMeasurements(
  { months, seed, kinds }: CostOptions,
  tell: (text: string) => void,
): Promise<void> {
  tell(
    `${months} months of each class, seed ${seed}. Median error of the month in % by morning; covered: by the range of 80%, in %.`,
  );
  tell(lineOf(HEAD));
  const bars: Bar[] = [];
  const taken = (own: readonly Bar[]) => {
    bars.push(...own);
    for (const { label, seen, bar } of own.filter(({ met }) => !met))
      tell(`missed: ${label}: ${seen}, bar ${bar}`);
  };
  await replayAll(kinds.length > 0 ? kinds : KINDS, { months, seed }, (found) => {
    tell(lineOf(found.row));
    taken(found.bars);
  });
  const digests = kinds.length > 0 ? [] : await digestTest(seed);
  for (const { label, seen } of digests) tell(`${label}: ${seen}`);
  taken(digests);
  tell(`Bars: ${bars.filter(({ met }) => met).length} of ${bars.length} met`);
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
  replayed: (found: z.infer<typeof Replayed>) => void,
): Promise<void> {
  const left = [...kinds];
  const work = async () => {
    for (let kind = left.shift(); kind !== undefined; kind = left.shift()) {
      process.stderr.write(`replaying ${kind} …\n`);
      const env = { KIND: kind, MONTHS: String(months), SEED: String(seed) };
      const child = startChild('bench/costs-class.ts', { env });
      replayed(Replayed.parse(await child.told(WITHIN_MS)));
      await child.stop();
    }
  };
  await Promise.all(Array.from({ length: availableParallelism() }, work));
}

const CLASS_WIDTH = Math.max(...KINDS.map(({ length }) => length));

/** A row is told before the others are known, so that its columns have a fixed width. */
const FIGURE_WIDTH = 8;

function lineOf(row: readonly string[]): string {
  const widthOf = (column: number) =>
    column === 0 ? CLASS_WIDTH : Math.max(FIGURE_WIDTH, HEAD[column]?.length ?? 0);
  return row
    .map((cell, column) => cell.padEnd(widthOf(column)))
    .join('  ')
    .trimEnd();
}
