import type { UserId } from '../../changes/change.ts';
import type { Tx } from '../../storage/tables/schema.ts';
import { addToRateCounters } from '../../storage/tables/tallies.ts';
import { denialOf } from '../denial.ts';
import type { DecisionContext } from '../ports.ts';
import { recordRefusal } from '../record.ts';

/**
 * What no person does with their hands, however busy the day. Past it somebody's account or script
 * has run away, and everyone else still has to be served. `ofAll` is what all people together may
 * put into the database: many accounts that have run away must not fill it.
 */
const PACES = {
  /** Presses that decide: each one is stored before it is answered. */
  click: { most: 30, ofAll: 3_000, withinMs: 60_000 },
  /** Each reads what its target is, and stays in the database. */
  draft: { most: 20, ofAll: 1_000, withinMs: 600_000 },
  /** Lines, forms and buttons that only ask: each may read from an API that rations its reads. */
  command: { most: 60, ofAll: null, withinMs: 60_000 },
} as const;
export type RateLimitedAction = keyof typeof PACES;

/**
 * `over` is the first one too many of its while: it is written down and said to whoever did it.
 * All that follow are `long-over`, and leave no trace: a flood must not fill trail and channel.
 */
export type RateLimitStatus = 'fine' | 'over' | 'long-over';

export function beginOf(kind: RateLimitedAction, now: Date): Date {
  const { withinMs } = PACES[kind];
  return new Date(Math.floor(now.getTime() / withinMs) * withinMs);
}

/** The pace of each of these in their order; one person may be among them several times. */
export async function rateLimitStatusOf(
  tx: Tx,
  context: DecisionContext,
  kind: RateLimitedAction,
  by: readonly UserId[],
): Promise<readonly RateLimitStatus[]> {
  const more = new Map<UserId, number>();
  const places = by.map((person) => {
    const place = (more.get(person) ?? 0) + 1;
    more.set(person, place);
    return place;
  });
  const totals = await addToRateCounters(tx, { kind, since: beginOf(kind, context.now()), more });
  const paces = by.map((person, index) => {
    const before = (totals.get(person) ?? 0) - (more.get(person) ?? 0);
    return paceAt(kind, before + (places[index] ?? 0));
  });
  for (const [index, pace] of paces.entries()) {
    const person = by[index];
    if (pace === 'over' && person) await noteOver(tx, context, kind, person);
  }
  return togetherWith(tx, context, { kind, by, paces });
}

/** No person has this id. */
const EVERYONE = '*' as UserId;

interface Paces {
  readonly kind: RateLimitedAction;
  readonly by: readonly UserId[];
  readonly paces: readonly RateLimitStatus[];
}

/**
 * The same, but for those whom all people together leave no room. Only what is fine by itself is
 * counted, so that nobody can shut the others out alone; each of those is told.
 */
async function togetherWith(
  tx: Tx,
  context: DecisionContext,
  { kind, by, paces }: Paces,
): Promise<readonly RateLimitStatus[]> {
  const { ofAll } = PACES[kind];
  const fine = paces.filter((pace) => pace === 'fine').length;
  if (ofAll === null || fine === 0) return paces;
  const more = new Map([[EVERYONE, fine]]);
  const totals = await addToRateCounters(tx, { kind, since: beginOf(kind, context.now()), more });
  let count = (totals.get(EVERYONE) ?? 0) - fine;
  const together: RateLimitStatus[] = [];
  for (const [index, pace] of paces.entries()) {
    if (pace === 'fine') count += 1;
    const isOver = pace === 'fine' && count > ofAll;
    together.push(isOver ? 'over' : pace);
    const person = by[index];
    if (isOver && count === ofAll + 1 && person)
      await noteOver(tx, context, `${kind} of all`, person);
  }
  return together;
}

function paceAt(kind: RateLimitedAction, count: number): RateLimitStatus {
  const { most } = PACES[kind];
  if (count <= most) return 'fine';
  return count === most + 1 ? 'over' : 'long-over';
}

function noteOver(tx: Tx, context: DecisionContext, kind: string, by: UserId): Promise<void> {
  return recordRefusal(tx, context, { kind, by }, denialOf('rate-limited'));
}
