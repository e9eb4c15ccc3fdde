import type { WebClient } from '@slack/web-api';
import { type SharedRead, sharedRead } from '../base/cache.ts';
import { createPace } from '../base/http-limits.ts';
import type { Clock } from '../base/time.ts';
import type { RoleName, UserId } from '../domain/change.ts';
import type { Identity, People } from '../domain/gate.ts';
import type { Policy } from '../domain/policy.ts';
import { type Account, accountOf, type Home } from './accounts.ts';
import type { RetryLimited } from './api.ts';
import {
  createSomeMembers,
  type GroupMembers,
  type RoleGroups,
  readGroupMembers,
} from './groups.ts';

const KEEP_MS = 60_000;
const ALL = 'all groups';
// Slack allows 20 calls per minute: 6 at once and 13 per minute leave one for a reload.
const GROUP_PACE = { burst: 6, everyMs: 4_700 };

export interface Actors extends People {
  /**
   * For a start: at least `enough` active users of a role, or all, with few lookups for a large
   * group; null on failure.
   */
  readonly someOf: (role: RoleName, enough: number) => Promise<readonly UserId[] | null>;
  /** Drops what was read before, after an event from Slack. */
  readonly forgetGroup: (group: string) => void;
  readonly forgetUser: (user: string) => void;
  /** Divides Slack's limit for group lookups by the number of replicas, which share it. */
  readonly shareLimits: (replicas: number) => void;
}

interface Options {
  readonly lookups: WebClient;
  readonly policy: Policy;
  readonly groups: RoleGroups;
  readonly accounts: SharedRead<Account>;
  /** Repeats the reads of `someOf` at a rate limit. */
  readonly retryLimited: RetryLimited;
  readonly now: () => Date;
  readonly clock: Clock;
  readonly warn: (error: unknown, lookup: string) => void;
}

/** A cache of accounts: one minute. */
export function cachedAccounts(
  lookups: WebClient,
  home: Home,
  now: () => Date,
): SharedRead<Account> {
  return sharedRead(
    (user) => accountOf(lookups, user, home),
    KEEP_MS,
    () => now().getTime(),
  );
}

/** Identities from Slack: cached for a minute, and read again for every decision. */
export function createActors(options: Options): Actors {
  const { lookups, policy, groups, accounts, retryLimited, now } = options;
  const clock = () => now().getTime();
  const groupIds = [...new Set([...groups.values()].flat().map(({ id }) => id))];
  const gone = (group: string) =>
    options.warn(
      new Error('the group does not exist'),
      `members of ${group}, a group of the policy`,
    );
  const pace = createPace(GROUP_PACE, options.clock);
  const members = sharedRead(
    () => readGroupMembers(lookups, groupIds, { now, gone }),
    KEEP_MS,
    clock,
    pace.turn,
  );

  async function identify(user: UserId, how: { fresh: boolean }): Promise<Identity> {
    try {
      const [{ standing }, roles] = await Promise.all([
        accounts.read(user, how),
        rolesOf(user, how),
      ]);
      if (standing !== 'member') return { ok: false, refusal: standing };
      return { ok: true, actor: { id: user, roles: roles.names }, evidence: roles.evidence };
    } catch (error) {
      options.warn(error, `identity of ${user}`);
      return { ok: false, refusal: 'lookup-failed' };
    }
  }

  async function rolesOf(user: UserId, how: { fresh: boolean }) {
    const byGroup = await members.read(ALL, how);
    const names = [...policy.roles.keys()].filter((role) => isIn(role, user, byGroup));
    return { names, evidence: { groups: [...byGroup.values()].map(({ evidence }) => evidence) } };
  }

  function isIn(role: RoleName, user: UserId, byGroup: ReadonlyMap<string, GroupMembers>): boolean {
    if (policy.roles.get(role)?.users.includes(user)) return true;
    return (groups.get(role) ?? []).some(({ id }) => byGroup.get(id)?.ids.has(user) === true);
  }

  async function someOf(role: RoleName, enough: number): Promise<readonly UserId[] | null> {
    try {
      const left = [...(await retryLimited(() => idsOf(role)))];
      const found: UserId[] = [];
      while (found.length < enough && left.length > 0) {
        found.push(...(await activeAmong(left.splice(0, enough))));
      }
      return found;
    } catch (error) {
      options.warn(error, `members of role ${role}`);
      return null;
    }
  }

  async function activeAmong(ids: readonly UserId[]): Promise<readonly UserId[]> {
    const active = await Promise.all(
      ids.map(async (id) => {
        const { standing } = await retryLimited(() => accounts.read(id, { fresh: false }));
        return standing === 'member';
      }),
    );
    return ids.filter((_, index) => active[index]);
  }

  async function zoneOf(user: UserId): Promise<string | null> {
    try {
      return (await accounts.read(user, { fresh: false })).zone;
    } catch (error) {
      options.warn(error, `time zone of ${user}`);
      return null;
    }
  }

  async function idsOf(role: RoleName): Promise<readonly UserId[]> {
    const byGroup = await members.read(ALL, { fresh: false });
    const own = (groups.get(role) ?? []).flatMap(({ id }) => [...(byGroup.get(id)?.ids ?? [])]);
    // Slack returns ids of users.
    const inGroups = own as UserId[];
    return [...new Set([...(policy.roles.get(role)?.users ?? []), ...inGroups])];
  }

  return {
    identify,
    someOf,
    someMembers: createSomeMembers({ idsOf, accounts, clock: options.clock }),
    zoneOf,
    forgetGroup: (group) => {
      if (groupIds.includes(group)) members.forget(ALL);
    },
    forgetUser: (user) => accounts.forget(user),
    shareLimits: pace.share,
  };
}
