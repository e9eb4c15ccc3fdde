import type { WebClient } from '@slack/web-api';
import { type Freshness, type SharedRead, sharedRead } from '../base/cache.ts';
import type { Clock } from '../base/time.ts';
import { isPerson, type RoleName, type UserId } from '../domain/change.ts';
import { agentIdentity, type Identity, type People } from '../domain/gate.ts';
import type { Policy } from '../domain/policy.ts';
import { type Account, afterLimits, type Home } from './accounts.ts';
import { createSomeMembers, type RoleGroups, readGroupMembers } from './groups.ts';
import { orLate } from './private-answers.ts';

const KEEP_MS = 60_000;
const ALL = 'all groups';
const ID_WITHIN_MS = 1_000;

export type Actors = ReturnType<typeof createActors>;
type Members = Awaited<ReturnType<typeof readGroupMembers>>;

interface Options {
  readonly lookups: WebClient;
  readonly policy: Policy;
  readonly groups: RoleGroups;
  readonly home: Pick<Home, 'workspaces'>;
  readonly accounts: SharedRead<Account>;
  readonly now: () => Date;
  readonly clock: Clock;
  readonly warn: (error: unknown, lookup: string) => void;
  /** A person was identified. */
  readonly onAnswer: (how: Freshness) => void;
}

/**
 * Identities from Slack: cached for a minute, and read again for every decision. A reading serves everyone
 * who needs one that began as late. Source: docs/slack.md#users-and-groups.
 */
export function createActors(options: Options) {
  const { lookups, policy, groups, accounts, now } = options;
  const all = [...groups.values()].flat();
  const named = new Map([...policy.roles].map(([role, { users }]) => [role, new Set(users)]));
  const groupIds = [...new Set(all.map(({ id }) => id))];
  const workspaces = options.home.workspaces?.filter((id) => all.some(({ team }) => team === id));
  const gone = (group: string) => {
    const error = new Error('the group does not exist');
    options.warn(error, `members of ${group}, a group of the policy`);
  };
  const members = sharedRead(
    () => readGroupMembers(lookups, groupIds, { now, gone, workspaces: workspaces ?? null }),
    KEEP_MS,
    () => now().getTime(),
    afterLimits(options.clock),
  );

  async function identify(user: UserId, how: Freshness): Promise<Identity> {
    if (!isPerson(user)) return agentIdentity(policy, user);
    try {
      const [{ standing, ids }, byGroup] = await Promise.all([
        accounts.read(user, how),
        members.read(ALL, how),
      ]);
      options.onAnswer(how);
      if (standing !== 'member') return { ok: false, refusal: standing };
      const isIn = (role: RoleName) =>
        listsOf(role, byGroup).some((list) => ids.some((id) => list.has(id)));
      const roles = [...policy.roles.keys()].filter(isIn);
      const evidence = { groups: [...byGroup.values()].map((group) => group.evidence) };
      return { ok: true, actor: { id: ids[0] ?? user, ids, roles }, evidence };
    } catch (error) {
      options.warn(error, `identity of ${user}`);
      return { ok: false, refusal: 'lookup-failed' };
    }
  }

  /** Those whom the policy names, and the members of each group. */
  function listsOf(role: RoleName, byGroup: Members): readonly ReadonlySet<UserId>[] {
    const inGroups = (groups.get(role) ?? []).flatMap(({ id }) => byGroup.get(id)?.ids ?? []);
    return [named.get(role) ?? new Set(), ...inGroups];
  }

  /**
   * For a start: at least `enough` active users of a role, or all, with few lookups for a large
   * group; null on failure.
   */
  async function someOf(role: RoleName, enough: number): Promise<readonly UserId[] | null> {
    try {
      const left = [...(await idsOf(role))];
      const found = new Set<UserId>();
      while (found.size < enough && left.length > 0) {
        for (const id of await activeAmong(left.splice(0, enough))) found.add(id);
      }
      return [...found];
    } catch (error) {
      options.warn(error, `members of role ${role}`);
      return null;
    }
  }

  /** The members among these, each person once. */
  async function activeAmong(listed: readonly UserId[]): Promise<readonly UserId[]> {
    const reads = listed.map((id) => accounts.read(id, { fresh: false }));
    const all = await Promise.allSettled(reads);
    // One that fails says nothing about the others.
    if (all.every(({ status }) => status === 'rejected')) await Promise.all(reads);
    return all.flatMap((each) =>
      each.status === 'fulfilled' && each.value.standing === 'member'
        ? each.value.ids.slice(0, 1)
        : [],
    );
  }

  /**
   * The one id by which Signalbox knows a person, whichever of two ids on Grid Slack gives. Everything that
   * compares people compares this one. Where Slack does not answer within a second, the given id.
   */
  async function idOf(user: UserId): Promise<UserId> {
    if (options.home.workspaces === null && !user.startsWith('W')) return user;
    const read = accountOf(user, 'ids');
    return (await orLate(options.clock.timeout(ID_WITHIN_MS), read))?.ids[0] ?? user;
  }

  async function zoneOf(user: UserId): Promise<string | null> {
    // A program has no clock on a wall.
    if (!isPerson(user)) return 'UTC';
    return (await accountOf(user, 'time zone'))?.zone ?? null;
  }

  /** Null where Slack does not answer. */
  function accountOf(user: UserId, lookup: string): Promise<Account | null> {
    return accounts.read(user, { fresh: false }).catch((error: unknown) => {
      options.warn(error, `${lookup} of ${user}`);
      return null;
    });
  }

  async function idsOf(role: RoleName): Promise<readonly UserId[]> {
    const lists = listsOf(role, await members.read(ALL, { fresh: false }));
    return [...new Set(lists.flatMap((list) => [...list]))];
  }

  return {
    identify,
    idOf,
    someOf,
    someMembers: createSomeMembers({ idsOf, accounts, clock: options.clock }),
    zoneOf,
    /** After an event of Slack about a group: the groups are read again. */
    groupChanged: (group: string) => {
      if (groupIds.includes(group)) members.forget(ALL);
    },
    /** Drops what was read before, after an event of Slack. */
    forgetUser: (user: string) => accounts.forget(user),
  } satisfies People & Record<string, unknown>;
}
