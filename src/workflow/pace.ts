import type { UserId } from '../changes/change.ts';
import type { Tx } from '../storage/tables.ts';
import { tally } from '../storage/tallies.ts';
import { denialOf } from './denial.ts';
import { recordRefusal } from './record.ts';
import type { World } from './world.ts';

/**
 * What no person does with their hands, however busy the day. Past it somebody's account or script
 * has run away, and everyone else still has to be served.
 */
const PACES = {
  /** Presses that decide: each one is stored before it is answered. */
  click: { most: 30, withinMs: 60_000 },
  /** Each reads what its target is, and stays in the database. */
  draft: { most: 20, withinMs: 600_000 },
  /** Lines, forms and buttons that only ask: each may read from an API that rations its reads. */
  command: { most: 60, withinMs: 60_000 },
} as const;
export type Paced = keyof typeof PACES;

/**
 * `over` is the first one too many of its while: it is written down and said to whoever did it.
 * All that follow are `long-over`, and leave no trace: a flood must not fill trail and channel.
 */
export type Pace = 'fine' | 'over' | 'long-over';

export function beginOf(kind: Paced, now: Date): Date {
  const { withinMs } = PACES[kind];
  return new Date(Math.floor(now.getTime() / withinMs) * withinMs);
}

/** The pace of each of these in their order; one person may be among them several times. */
export async function pacesOf(
  tx: Tx,
  world: World,
  kind: Paced,
  by: readonly UserId[],
): Promise<readonly Pace[]> {
  const more = new Map<UserId, number>();
  const places = by.map((person) => {
    const place = (more.get(person) ?? 0) + 1;
    more.set(person, place);
    return place;
  });
  const totals = await tally(tx, { kind, since: beginOf(kind, world.now()), more });
  const paces = by.map((person, index) => {
    const before = (totals.get(person) ?? 0) - (more.get(person) ?? 0);
    return paceAt(kind, before + (places[index] ?? 0));
  });
  for (const [index, pace] of paces.entries()) {
    const person = by[index];
    if (pace === 'over' && person) await noteOver(tx, world, kind, person);
  }
  return paces;
}

function paceAt(kind: Paced, count: number): Pace {
  const { most } = PACES[kind];
  if (count <= most) return 'fine';
  return count === most + 1 ? 'over' : 'long-over';
}

function noteOver(tx: Tx, world: World, kind: Paced, by: UserId): Promise<void> {
  return recordRefusal(tx, world, { kind, by }, denialOf('too-many'));
}
