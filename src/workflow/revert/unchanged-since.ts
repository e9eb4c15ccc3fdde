import { type Change, targetKey } from '../../changes/change.ts';
import { ranAfter } from '../../storage/tables/changes/permits.ts';
import type { World } from '../ports.ts';

/**
 * Whether a target still is as a change left it, as far as anybody can say: nothing else of ours
 * ran since, and where it can be read, it holds what was sent. Throws where that read fails.
 */
export async function isAsLeft(world: World, change: Change): Promise<boolean> {
  const { target, body } = change.plan;
  if (await ranAfter(world.database.db, targetKey(target), change)) return false;
  const settle = world.commands.get(change.command)?.settle;
  return settle ? (await settle(target, body, world.reach(), change)) !== null : true;
}
