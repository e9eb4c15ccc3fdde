import { tzOffset } from '@date-fns/tz';
import type { WebClient } from '@slack/web-api';
import type { RoleName, UserId } from '../../changes/change.ts';
import type { Refusal } from '../../changes/refusal.ts';
import { sharedRead } from '../../http/shared-read.ts';
import type { Policy } from '../../policy/policy-types.ts';
import type { Identity, IdentityEvidence, People } from '../../workflow/ports.ts';
import { refusedBySlack } from '../slack-error.ts';
import type { RoleGroups } from './groups.ts';

const KEEP_MS = 60_000;
const EVERYONE = Number.MAX_SAFE_INTEGER;

export interface Home {
  readonly teamId: string;
  readonly enterpriseId: string | null;
}

export interface Actors extends People {
  /** Up to `enough` active users of a role, with few lookups for a large group; null on failure. */
  readonly someOf: (role: RoleName, enough: number) => Promise<readonly UserId[] | null>;
  /** Drops what was read before, after an event from Slack. */
  readonly forgetGroup: (group: string) => void;
  readonly forgetUser: (user: string) => void;
}

interface Members {
  readonly ids: ReadonlySet<string>;
  readonly evidence: IdentityEvidence['groups'][number];
}

interface Options {
  readonly lookups: WebClient;
  readonly policy: Policy;
  readonly groups: RoleGroups;
  readonly home: Home;
  readonly now: () => Date;
  readonly warn: (error: unknown, lookup: string) => void;
}

/** Identities from Slack: cached for a minute, and read again for every decision. */
export function createActors(options: Options): Actors {
  const { lookups, policy, groups, home, now } = options;
  const clock = () => now().getTime();
  const groupIds = [...new Set([...groups.values()].flat().map(({ id }) => id))];
  const accounts = sharedRead((user) => accountOf(lookups, user, home), KEEP_MS, clock);
  const gone = (group: string, error: unknown) =>
    options.warn(error, `members of ${group}, a group of the policy that no longer exists`);
  const members = sharedRead(
    (group) => membersOfGroup(lookups, group, { now, gone }),
    KEEP_MS,
    clock,
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
    const read = await Promise.all(
      groupIds.map(async (id) => [id, await members.read(id, how)] as const),
    );
    const byGroup = new Map(read);
    const names = [...policy.roles.keys()].filter((role) => isIn(role, user, byGroup));
    return { names, evidence: { groups: read.map(([, { evidence }]) => evidence) } };
  }

  function isIn(role: RoleName, user: UserId, byGroup: ReadonlyMap<string, Members>): boolean {
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
      ids.map(async (id) => (await accounts.read(id, { fresh: false })).standing === 'member'),
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
    const read = await Promise.all(
      (groups.get(role) ?? []).map(({ id }) => members.read(id, { fresh: false })),
    );
    // Slack returns ids of users.
    const inGroups = read.flatMap(({ ids }) => [...ids]) as UserId[];
    return [...new Set([...(policy.roles.get(role)?.users ?? []), ...inGroups])];
  }

  return {
    identify,
    someOf,
    membersOf: (role) => someOf(role, EVERYONE),
    zoneOf,
    forgetGroup: (group) => members.forget(group),
    forgetUser: (user) => accounts.forget(user),
  };
}

interface GroupRead {
  readonly now: () => Date;
  readonly gone: (group: string, error: unknown) => void;
}

async function membersOfGroup(
  lookups: WebClient,
  group: string,
  { now, gone }: GroupRead,
): Promise<Members> {
  const readAt = now().toISOString();
  try {
    const { users } = await lookups.usergroups.users.list({ usergroup: group });
    if (!users) throw new Error(`Slack answered without the members of ${group}`);
    const ids = new Set(users);
    return { ids, evidence: { id: group, size: ids.size, readAt } };
  } catch (error) {
    // A definite answer: a group that does not exist has no members.
    if (refusedBySlack(error) !== 'no_such_subteam') throw error;
    gone(group, error);
    return { ids: new Set(), evidence: { id: group, size: 0, readAt } };
  }
}

interface Account {
  readonly standing: 'member' | Refusal;
  readonly zone: string | null;
}

async function accountOf(lookups: WebClient, id: string, home: Home): Promise<Account> {
  const { user } = await lookups.users.info({ user: id });
  if (user?.id !== id || !user.team_id) throw new Error(`Slack answered without the user ${id}`);
  return { standing: standingOf(user, home), zone: knownZone(user.tz) };
}

/** Null for a zone that the runtime does not know. */
function knownZone(zone: string | undefined): string | null {
  return zone !== undefined && !Number.isNaN(tzOffset(zone, new Date(0))) ? zone : null;
}

type User = NonNullable<Awaited<ReturnType<WebClient['users']['info']>>['user']>;

/** Missing flags never grant access: the reply must be complete. */
export function standingOf(user: User, home: Home): 'member' | Refusal {
  if (!isInternal(user, home)) return 'other-workspace';
  if (user.deleted !== false) return 'deactivated';
  if (user.is_bot !== false || user.id === 'USLACKBOT') return 'bot';
  const full = user.is_restricted === false && user.is_ultra_restricted === false;
  return full ? 'member' : 'guest';
}

interface Belonging {
  readonly team_id?: string;
  readonly is_stranger?: boolean;
  readonly enterprise_user?: { readonly enterprise_id?: string };
}

// Slack sets `is_stranger` to false for external users of a shared channel, so the team decides.
function isInternal(user: Belonging, { teamId, enterpriseId }: Home): boolean {
  if (user.is_stranger === true) return false;
  if (user.team_id === teamId) return true;
  return enterpriseId !== null && user.enterprise_user?.enterprise_id === enterpriseId;
}
