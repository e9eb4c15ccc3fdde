import { z } from 'zod';
import { dropMeta, metaUnder, writeMeta } from './meta.ts';
import type { Db, Tx } from './schema.ts';

const UNDER = 'instance/';

/** One running process of Signalbox, as it said of itself. */
export interface Instance {
  readonly id: string;
  readonly version: string;
  readonly startedAt: Date;
  readonly seenAt: Date;
}

// Of another release, perhaps: what it says beside this is its own affair.
const Said = z.object({
  version: z.string(),
  startedAt: z.coerce.date(),
  seenAt: z.coerce.date(),
});

export async function saveInstance(tx: Tx, { id, ...said }: Instance): Promise<void> {
  await writeMeta(tx, UNDER + id, JSON.stringify(said));
}

export async function dropInstance(tx: Tx, id: string): Promise<void> {
  await dropMeta(tx, UNDER + id);
}

/** The one that began first comes first. */
export async function listInstances(db: Db): Promise<readonly Instance[]> {
  const rows = await metaUnder(db, UNDER);
  return rows
    .map(({ key, value }) => ({ id: key.slice(UNDER.length), ...Said.parse(JSON.parse(value)) }))
    .toSorted((a, b) => a.startedAt.getTime() - b.startedAt.getTime());
}

/** Those that were killed could not say goodbye. */
export async function pruneInstances(tx: Tx, before: Date): Promise<void> {
  for (const { id, seenAt } of await listInstances(tx)) {
    if (seenAt < before) await dropInstance(tx, id);
  }
}
