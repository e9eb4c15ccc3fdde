import { z } from 'zod';
import { listInstances } from '../../storage/old/instances.ts';
import { readingMeta, readMeta, writeMeta } from '../../storage/old/meta.ts';
import { decode } from '../../storage/old/portable.ts';
import type { Db, Tx } from '../../storage/old/schema.ts';
import type { Statement } from '../../storage/old/together.ts';

const KEY = 'configuration';
const EARLIER_MAX = 20;

// Another release may store more fields, which are ignored.
const Stored = z.object({ hash: z.string(), earlier: z.array(z.string()) });

/** A process that uses a configuration file with this hash. */
interface ConfigurationUse {
  readonly hash: string;
  readonly instance: string;
  /** The instance of this process before a reload, which does not count any more. */
  readonly replaces: string | null;
}

/**
 * Whether no replica uses a newer configuration. To be asked in the transaction of a claim, so that
 * two policies never execute at the same time.
 */
export async function mayExecute(db: Db, hash: string): Promise<boolean> {
  return isNewest(await readMeta(db, KEY), hash);
}

interface ConfigurationRead extends Statement {
  /** What `mayExecute` returns. */
  readonly mayExecute: () => boolean;
}

/** The statement of `mayExecute`, to be sent together with others. */
export function readingConfiguration(tx: Tx, hash: string): ConfigurationRead {
  const { rows, ...statement } = readingMeta(tx, KEY);
  return { ...statement, mayExecute: () => isNewest(rows()[0]?.value ?? null, hash) };
}

function isNewest(text: string | null, hash: string): boolean {
  const stored = storedFrom(text);
  return stored === null || stored.hash === hash;
}

/**
 * Makes a configuration the current one, unless it is an earlier one and a running replica still
 * uses the current one: then this process was started or reloaded with an outdated file. Instances
 * that were last seen before `aliveSince` do not count. Returns whether it is the current one.
 */
export async function registerConfiguration(
  tx: Tx,
  { hash, instance, replaces }: ConfigurationUse,
  aliveSince: Date,
): Promise<boolean> {
  const stored = storedFrom(await readMeta(tx, KEY));
  if (stored?.hash === hash) return true;
  if (stored?.earlier.includes(hash)) {
    const others = (await listInstances(tx)).filter(
      ({ id, seenAt }) => id !== instance && id !== replaces && seenAt >= aliveSince,
    );
    if (others.some(({ configuration }) => configuration === stored.hash)) return false;
  }
  const before = stored ? [stored.hash, ...stored.earlier] : [];
  const earlier = before.filter((each) => each !== hash).slice(0, EARLIER_MAX);
  await writeMeta(tx, KEY, JSON.stringify({ hash, earlier }));
  return true;
}

function storedFrom(text: string | null): z.infer<typeof Stored> | null {
  return text === null ? null : decode(Stored, text, 'current configuration');
}
