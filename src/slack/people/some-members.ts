import type { SharedRead } from '../../base/cache.ts';
import { createBudget } from '../../base/http-limits.ts';
import type { Clock } from '../../base/time.ts';
import type { RoleName, UserId } from '../../domain/change.ts';
import type { SomeMembers } from '../../domain/gate.ts';
import { orLate } from '../progress/progress.ts';
import type { Account } from './account.ts';

const NAMED_MAX = 6;
const WITHIN_MS = 1_000;
// A part of what Slack allows per minute, so that the decisions keep the rest.
const LIMIT = { requests: 12, reads: 12, perMs: 60_000 };

interface Options {
  /** All members of a role by id, among them guests and deactivated users. */
  readonly idsOf: (role: RoleName) => Promise<readonly UserId[]>;
  readonly accounts: Pick<SharedRead<Account>, 'read' | 'cached'>;
  readonly clock: Clock;
}

/**
 * Finds up to six active members of a role for a text that names them. Reads at most six accounts,
 * within a second and a request budget of its own; null where Slack did not answer in this time.
 * Source: docs/slack.md#users-and-groups.
 */
export function createSomeMembers({ idsOf, accounts, clock }: Options) {
  const budget = createBudget(LIMIT, clock);

  async function lookUp(id: UserId): Promise<void> {
    const turn = await budget.take('people', clock.now());
    if (turn.ok) await accounts.read(id, { fresh: false });
  }

  return async (role: RoleName): Promise<SomeMembers | null> => {
    const late = clock.timeout(WITHIN_MS);
    // Nothing is decided by these names.
    const ids = await orLate(
      late,
      idsOf(role).catch(() => null),
    );
    if (!ids) return null;
    const isActive = (id: UserId) => accounts.cached(id)?.standing === 'member';
    const unknown = () => ids.filter((id) => accounts.cached(id) === null);
    const missing = Math.max(0, NAMED_MAX - ids.filter(isActive).length);
    const wanted = unknown().slice(0, missing);
    await orLate(late, Promise.allSettled(wanted.map(lookUp)));
    const active = ids.filter(isActive);
    return {
      users: active.slice(0, NAMED_MAX),
      more: active.length > NAMED_MAX || unknown().length > 0,
    };
  };
}
