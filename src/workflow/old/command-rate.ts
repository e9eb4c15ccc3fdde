import type { UserId } from '../../domain/change.ts';
import type { DecisionContext } from './ports.ts';
import { countAttempts, type RateLimitStatus, windowStart } from './rate-limit.ts';

/**
 * Commands per user and minute that each replica counts in memory only. A database commit for every
 * command would cost more than the flood that it prevents.
 */
const UNCOUNTED = 20;

interface Minute {
  readonly since: number;
  readonly counts: Map<UserId, number>;
  readonly limited: Set<UserId>;
}

const minutes = new WeakMap<DecisionContext, Minute>();

/** Counts one command, form or reading button of a user and returns its status. */
export async function countCommand(context: DecisionContext, by: UserId): Promise<RateLimitStatus> {
  const { counts, limited } = minuteOf(context);
  if (limited.has(by)) return 'muted';
  const count = (counts.get(by) ?? 0) + 1;
  counts.set(by, count);
  if (count < UNCOUNTED) return 'ok';

  const status = await countStored(context, by, count === UNCOUNTED ? UNCOUNTED : 1);
  if (status !== 'ok') limited.add(by);
  return status;
}

async function countStored(
  context: DecisionContext,
  by: UserId,
  more: number,
): Promise<RateLimitStatus> {
  const several = Array.from({ length: more }, () => by);
  const statuses = await context.database.transaction((tx) =>
    countAttempts(tx, context, 'command', several),
  );
  return statuses.find((status) => status === 'limited') ?? statuses.at(-1) ?? 'ok';
}

function minuteOf(context: DecisionContext): Minute {
  const since = windowStart('command', context.now()).getTime();
  const known = minutes.get(context);
  if (known?.since === since) return known;
  const minute = { since, counts: new Map(), limited: new Set<UserId>() };
  minutes.set(context, minute);
  return minute;
}
