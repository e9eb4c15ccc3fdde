import type { UserId } from '../../changes/change.ts';
import type { DecisionContext } from '../ports.ts';
import { beginOf, type RateLimitStatus, rateLimitStatusOf } from './rate-limit.ts';

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

const minutes = new WeakMap<DecisionContext, Minute>();

/** Whether one more question of this person is answered. */
export async function commandRateOf(
  context: DecisionContext,
  by: UserId,
): Promise<RateLimitStatus> {
  const { asked, over } = minuteOf(context);
  if (over.has(by)) return 'long-over';
  const count = (asked.get(by) ?? 0) + 1;
  asked.set(by, count);
  if (count < UNCOUNTED) return 'fine';

  const pace = await counted(context, by, count === UNCOUNTED ? UNCOUNTED : 1);
  if (pace !== 'fine') over.add(by);
  return pace;
}

async function counted(
  context: DecisionContext,
  by: UserId,
  more: number,
): Promise<RateLimitStatus> {
  const several = Array.from({ length: more }, () => by);
  const paces = await context.database.transaction((tx) =>
    rateLimitStatusOf(tx, context, 'command', several),
  );
  return paces.find((pace) => pace === 'over') ?? paces.at(-1) ?? 'fine';
}

function minuteOf(context: DecisionContext): Minute {
  const since = beginOf('command', context.now()).getTime();
  const known = minutes.get(context);
  if (known?.since === since) return known;
  const minute = { since, asked: new Map(), over: new Set<UserId>() };
  minutes.set(context, minute);
  return minute;
}
