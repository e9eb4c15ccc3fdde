import type { UserId } from '../../changes/change.ts';
import type { World } from '../ports.ts';
import { beginOf, type Pace, pacesOf } from './rate-limit.ts';

/**
 * So many questions a minute are answered without a word to the database: a commit for each line
 * that anybody types would cost more than the flood. Each replica gives them, and no more.
 */
const UNCOUNTED = 20;

interface Minute {
  readonly since: number;
  readonly asked: Map<UserId, number>;
  readonly over: Set<UserId>;
}

const minutes = new WeakMap<World, Minute>();

/** Whether one more question of this person is answered. */
export async function paceOfAsking(world: World, by: UserId): Promise<Pace> {
  const { asked, over } = minuteOf(world);
  if (over.has(by)) return 'long-over';
  const count = (asked.get(by) ?? 0) + 1;
  asked.set(by, count);
  if (count < UNCOUNTED) return 'fine';

  const pace = await counted(world, by, count === UNCOUNTED ? UNCOUNTED : 1);
  if (pace !== 'fine') over.add(by);
  return pace;
}

async function counted(world: World, by: UserId, more: number): Promise<Pace> {
  const several = Array.from({ length: more }, () => by);
  const paces = await world.database.transaction((tx) => pacesOf(tx, world, 'command', several));
  return paces.find((pace) => pace === 'over') ?? paces.at(-1) ?? 'fine';
}

function minuteOf(world: World): Minute {
  const since = beginOf('command', world.now()).getTime();
  const known = minutes.get(world);
  if (known?.since === since) return known;
  const minute = { since, asked: new Map(), over: new Set<UserId>() };
  minutes.set(world, minute);
  return minute;
}
