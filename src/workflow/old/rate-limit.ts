import type { UserId } from '../../domain/change.ts';
import { createDenial } from '../../domain/gate.ts';
import { addingToRateCounters, subtractFromRateCounter } from '../../storage/old/rate-counters.ts';
import type { Tx } from '../../storage/old/schema.ts';
import { runTogether, type Statement } from '../../storage/old/together.ts';
import type { DecisionContext } from './ports.ts';
import { appendRefusal } from './record.ts';

/**
 * More than any user does manually, so that only a broken or stolen account reaches it. `ofAll` is
 * the total of all users: many broken accounts together must not fill the database.
 */
const RATE_LIMITS = {
  /** Clicks that decide. Each one is stored before Slack gets its answer. */
  click: { most: 30, ofAll: 3_000, withinMs: 60_000 },
  /** Drafts. Each one reads its target and is stored. */
  draft: { most: 20, ofAll: 1_000, withinMs: 600_000 },
  /** Commands, forms and buttons that only read, perhaps from an API with a request budget. */
  command: { most: 60, ofAll: null, withinMs: 60_000 },
  /** Costs that are read again before the stored copy is old; a year takes 12 reads. */
  refresh: { most: 3, ofAll: 30, withinMs: 600_000 },
} as const;
type RateLimitedAction = keyof typeof RATE_LIMITS;

/**
 * `limited`: the first action above the limit of this window, which is recorded and answered.
 * `muted`: all later ones, which are neither recorded nor answered, so that a flood cannot fill the
 * audit trail.
 */
export type RateLimitStatus = 'ok' | 'limited' | 'muted';

export function windowStart(kind: RateLimitedAction, now: Date): Date {
  const { withinMs } = RATE_LIMITS[kind];
  return new Date(Math.floor(now.getTime() / withinMs) * withinMs);
}

/** Counts actions and returns the status of each, in order. A user may occur several times. */
export async function countAttempts(
  tx: Tx,
  context: DecisionContext,
  kind: RateLimitedAction,
  by: readonly UserId[],
): Promise<readonly RateLimitStatus[]> {
  if (by.length === 0) return [];
  const counting = countingAttempts(tx, context, kind, by);
  await runTogether(tx, [counting]);
  return counting.statuses();
}

interface AttemptsStatement extends Statement {
  /** What `countAttempts` returns. Records limited actions. */
  readonly statuses: () => Promise<readonly RateLimitStatus[]>;
}

/** The statement of `countAttempts`, for at least one user. */
export function countingAttempts(
  tx: Tx,
  context: DecisionContext,
  kind: RateLimitedAction,
  by: readonly UserId[],
): AttemptsStatement {
  const more = new Map<UserId, number>();
  const positions = by.map((user) => {
    const position = (more.get(user) ?? 0) + 1;
    more.set(user, position);
    return position;
  });
  const since = windowStart(kind, context.now());
  const all = RATE_LIMITS[kind].ofAll === null ? [] : [[EVERYONE, by.length] as const];
  const adding = addingToRateCounters(tx, { kind, since, more: new Map([...more, ...all]) });
  const statuses = async () => {
    const totals = adding.counts();
    const own = by.map((user, index) => {
      const before = (totals.get(user) ?? 0) - (more.get(user) ?? 0);
      return statusAt(kind, before + (positions[index] ?? 0));
    });
    for (const [index, status] of own.entries()) {
      const user = by[index];
      if (status === 'limited' && user) await recordLimited(tx, context, kind, user);
    }
    const total = totals.get(EVERYONE) ?? 0;
    return limitTotal(tx, context, { kind, since, by, statuses: own, total });
  };
  return { ...adding, statuses };
}

/** Counts one action. If it is above a limit: when the next one is possible, else null. */
export async function limitedUntil(
  context: DecisionContext,
  kind: RateLimitedAction,
  by: UserId,
): Promise<Date | null> {
  const since = windowStart(kind, context.now());
  const [status] = await context.database.transaction((tx) =>
    countAttempts(tx, context, kind, [by]),
  );
  return status === 'ok' ? null : new Date(since.getTime() + RATE_LIMITS[kind].withinMs);
}

/** Stands for all users among the rate counters. No user has this id. */
const EVERYONE = '*' as UserId;

interface Counted {
  readonly kind: RateLimitedAction;
  readonly since: Date;
  /** The count of all users with all of these actions. */
  readonly total: number;
  readonly by: readonly UserId[];
  readonly statuses: readonly RateLimitStatus[];
}

/**
 * Limits the total of all users. It counts only actions within the user's own limit, so that one
 * user alone cannot lock out the others. Every action above the total is answered.
 */
async function limitTotal(
  tx: Tx,
  context: DecisionContext,
  { kind, since, total, by, statuses }: Counted,
): Promise<readonly RateLimitStatus[]> {
  const { ofAll } = RATE_LIMITS[kind];
  if (ofAll === null) return statuses;
  const refused = statuses.filter((status) => status !== 'ok').length;
  if (refused > 0) {
    await subtractFromRateCounter(tx, { kind, since, user: EVERYONE, less: refused });
  }
  let count = total - by.length;
  const limited: RateLimitStatus[] = [];
  for (const [index, status] of statuses.entries()) {
    if (status === 'ok') count += 1;
    const isOver = status === 'ok' && count > ofAll;
    limited.push(isOver ? 'limited' : status);
    const user = by[index];
    if (isOver && count === ofAll + 1 && user) {
      await recordLimited(tx, context, `${kind} of all`, user);
    }
  }
  return limited;
}

function statusAt(kind: RateLimitedAction, count: number): RateLimitStatus {
  const { most } = RATE_LIMITS[kind];
  if (count <= most) return 'ok';
  return count === most + 1 ? 'limited' : 'muted';
}

function recordLimited(tx: Tx, context: DecisionContext, kind: string, by: UserId): Promise<void> {
  return appendRefusal(tx, context, { kind, by }, createDenial('rate-limited'));
}
