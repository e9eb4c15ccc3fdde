import { z } from 'zod';
import { dropMeta, metaUnder, writeMeta } from './meta.ts';
import type { Db, Tx } from './schema.ts';

const KEY_PREFIX = 'instance/';

/** A running process of Signalbox; each one stores its own row. */
export interface Instance {
  readonly id: string;
  readonly version: string;
  /** The hash of its configuration file; missing in rows of earlier releases. */
  readonly configuration?: string | undefined;
  readonly startedAt: Date;
  readonly seenAt: Date;
}

// Another release may store more fields, which are ignored.
const StoredInstance = z.object({
  version: z.string(),
  configuration: z.string().optional(),
  startedAt: z.coerce.date(),
  seenAt: z.coerce.date(),
});

export async function saveInstance(tx: Tx, { id, ...fields }: Instance): Promise<void> {
  await writeMeta(tx, KEY_PREFIX + id, JSON.stringify(fields));
}

export async function dropInstance(tx: Tx, id: string): Promise<void> {
  await dropMeta(tx, KEY_PREFIX + id);
}

/** Returns all processes, the oldest first. */
export async function listInstances(db: Db): Promise<readonly Instance[]> {
  const rows = await metaUnder(db, KEY_PREFIX);
  return rows
    .map(({ key, value }) => ({
      id: key.slice(KEY_PREFIX.length),
      ...StoredInstance.parse(JSON.parse(value)),
    }))
    .toSorted((a, b) => a.startedAt.getTime() - b.startedAt.getTime());
}

/** Removes processes that were killed, which could not remove their own row. */
export async function pruneInstances(tx: Tx, before: Date): Promise<void> {
  for (const { id, seenAt } of await listInstances(tx)) {
    if (seenAt < before) await dropInstance(tx, id);
  }
}
