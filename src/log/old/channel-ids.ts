import { metaUnder, readMeta, replaceMeta } from '../../storage/old/meta.ts';
import type { Db, Tx } from '../../storage/old/schema.ts';

const PREFIX = 'channel:';

/** Returns the stored ids of channel names, for example `#db-costs` with `C0123ABCD`. */
export async function storedChannelIds(db: Db): Promise<ReadonlyMap<string, string>> {
  const rows = await metaUnder(db, PREFIX);
  return new Map(rows.map(({ key, value }) => [key.slice(PREFIX.length), value]));
}

/** Stores the id of a name unless it has one. Returns the stored id. */
export async function rememberChannelId(tx: Tx, name: string, id: string): Promise<string> {
  const key = `${PREFIX}${name}`;
  await replaceMeta(tx, key, null, id);
  return (await readMeta(tx, key)) ?? id;
}
