import type { WebClient } from '@slack/web-api';
import { type Freshness, type Repeat, type SharedRead, sharedRead } from '../base/cache.ts';
import type { Clock } from '../base/time.ts';
import type { RoleName, UserId } from '../domain/change.ts';
import type { Identity, People } from '../domain/gate.ts';
import type { Policy } from '../domain/policy.ts';
import { type Account, accountOf, type Home } from './accounts.ts';
import { createRetryLimited } from './api.ts';
import {
  createSomeMembers,
  type GroupChange,
  type GroupMembers,
  type RoleGroups,
  readGroupMembers,
  withGroup,
} from './groups.ts';

const KEEP_MS = 60_000;
const ALL = 'all groups';

export interface Actors extends People {
  /**
   * For a start: at least `enough` active users of a role, or all, with few lookups for a large
   * group; null on failure.
   */
  readonly someOf: (role: RoleName, enough: number) => Promise<readonly UserId[] | null>;
  /** Changes the cached members of a group after an event of Slack; null: the event does not name them. */
  readonly changeGroup: (group: string, change: GroupChange) => void;
  /** Drops what was read before, after an event of Slack. */
  readonly forgetUser: (user: string) => void;
}

interface Options {
  readonly lookups: WebClient;
  readonly policy: Policy;
  readonly groups: RoleGroups;
  readonly accounts: SharedRead<Account>;
  readonly now: () => Date;
  readonly clock: Clock;
  readonly warn: (error: unknown, lookup: string) => void;
}

/** A cache of accounts: one minute. */
export function cachedAccounts(
  lookups: WebClient,
  home: Home,
  { now, clock }: Pick<Options, 'now' | 'clock'>,
): SharedRead<Account> {
  return sharedRead(
    (user) => accountOf(lookups, user, home),
    KEEP_MS,
    () => now().getTime(),
    afterLimits(clock),
  );
}

/** Each read waits as long as Slack asks, at most 90 s. */
function afterLimits(clock: Clock): Repeat {
  return (fetch, onWait) => createRetryLimited(clock)(fetch, onWait);
}

/**
 * Identities from Slack: cached for a minute, and read again for every decision. A reading serves everyone
 * who needs one that began as late. Source: docs/slack.md#users-and-groups.
 */
export function createActors(options: Options): Actors {
  const { lookups, policy, groups, accounts, now } = options;
  const groupIds = [...new Set([...groups.values()].flat().map(({ id }) => id))];
  const gone = (group: string) =>
    options.warn(
      new Error('the group does not exist'),
      `members of ${group}, a group of the policy`,
    );
  const members = sharedRead(
    () => readGroupMembers(lookups, groupIds, { now, gone }),
    KEEP_MS,
    () => now().getTime(),
    afterLimits(options.clock),
  );

  async function identify(user: UserId, how: Freshness): Promise<Identity> {
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

  async function rolesOf(user: UserId, how: Freshness) {
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
      const left = [...(await idsOf(role))];
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
        const { standing } = await accounts.read(id, { fresh: false });
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
    changeGroup: (group, change) => {
      if (groupIds.includes(group)) members.change(ALL, (all) => withGroup(all, group, change));
    },
    forgetUser: (user) => accounts.forget(user),
  };
}
