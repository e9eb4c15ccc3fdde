import type { WebClient } from '@slack/web-api';
import type { SharedRead } from '../base/cache.ts';
import { createBudget } from '../base/http-limits.ts';
import { nearest } from '../base/text.ts';
import type { Clock } from '../base/time.ts';
import type { RoleName, UserId } from '../domain/change.ts';
import type { SomeMembers } from '../domain/gate.ts';
import type { Policy } from '../domain/policy.ts';
import { type Account, checkUsers, type Home, ofEach, type UserReads } from './accounts.ts';
import { callProblem, type SlackProblem } from './api.ts';
import { orLate } from './private-answers.ts';

interface GroupRead {
  readonly now: () => Date;
  /** Called for a group that does not exist or is disabled. */
  readonly gone: (group: string) => void;
  /** The workspaces of these groups. */
  readonly workspaces: Home['workspaces'];
}

/**
 * Reads the members of these groups in one call per workspace, because Slack allows 20 calls per minute. A group
 * that is not in the list has no members: the list is complete. Without groups nothing is read.
 * Source: docs/slack.md#users-and-groups.
 */
export async function readGroupMembers(
  lookups: WebClient,
  groups: readonly string[],
  { now, gone, workspaces }: GroupRead,
) {
  const readAt = now().toISOString();
  const all = groups.length > 0 ? await groupsIn(lookups, { workspaces }, {}) : [];
  const listed = new Map(all.map(({ group }) => [group.id, group]));
  const members = groups.map((id) => {
    const group = listed.get(id);
    if (!group) gone(id);
    const users = group ? group.users : [];
    if (!users) throw new Error(`Slack answered without the members of ${id}`);
    const ids = new Set(users.filter(isUserId) as UserId[]);
    return [id, { ids, evidence: { id, size: ids.size, readAt } }] as const;
  });
  return new Map(members);
}

async function groupsIn(
  lookups: WebClient,
  home: Pick<Home, 'workspaces'>,
  options: { readonly include_disabled?: true },
) {
  const lists = ofEach(home).map(async (of) => {
    const { usergroups } = await lookups.usergroups.list({
      include_users: true,
      ...options,
      ...of,
    });
    if (!usergroups) throw new Error('Slack answered usergroups.list without groups');
    return usergroups.filter(Boolean).map((group) => ({ group, team: of.team_id ?? null }));
  });
  return (await Promise.all(lists)).flat();
}

/** A list of Slack can contain an empty string. */
function isUserId(id: unknown): boolean {
  return typeof id === 'string' && /^[UW][A-Z0-9]+$/.test(id);
}

/** A role's user groups by id. Handles are looked up once: a group may be renamed, its id stays. */
export type RoleGroups = ReadonlyMap<RoleName, readonly Group[]>;

interface Group {
  readonly id: string;
  readonly handle: string;
  /** The workspace that lists it; null: that of the token. */
  readonly team: string | null;
}

export interface ListedGroup extends Group {
  readonly disabled: boolean;
  readonly users: readonly string[];
}

/** The groups that the policy names, or every problem with its groups and people. */
export async function findGroups(policy: Policy, reads: UserReads) {
  const roles = [...policy.roles];
  const named = roles.flatMap(([, { users }]) => users);
  const asProblem = (error: unknown) => callProblem('roles', error);
  const [listed, people] = await Promise.all([
    reads.retryLimited(() => listNamedGroups(reads.lookups, reads.home, policy)).catch(asProblem),
    checkUsers(named, reads).catch(asProblem),
  ]);
  const missing =
    'problem' in listed
      ? [listed]
      : roles.flatMap(([role, { groups }]) =>
          groups.flatMap((name) => groupProblem(role, name, listed) ?? []),
        );
  if ('problem' in people) return { ok: false as const, problems: [...missing, people] };
  const unknown = roles.flatMap(([role, { users }]) =>
    users
      .filter((user) => people.get(user)?.ids.length === 0)
      .map((user) => unknownUserProblem(role, user)),
  );
  const problems = [...missing, ...unknown];
  if ('problem' in listed || problems.length > 0) return { ok: false as const, problems };
  const groups = roles.map(([role, { groups }]) => {
    return [role, groups.flatMap((name) => groupNamed(name, listed) ?? [])] as const;
  });
  return { ok: true as const, groups: new Map(groups), people };
}

/** Why a role cannot use the group with this name; null where it can. */
export function groupProblem(
  role: RoleName,
  name: string,
  listed: readonly ListedGroup[],
): SlackProblem | null {
  const group = groupNamed(name, listed);
  const where = `roles.${role}`;
  const others = listed.filter((each) => isNamed(each, name) && each.team !== group?.team);
  if (group && others.some(({ id }) => id !== group.id)) {
    const all = [group, ...others].map(({ team, id }) => `${team}/${name} (${id})`);
    const problem = `the user group ${name} is in several workspaces: ${all.join(', ')}`;
    return { where, problem, hint: 'write one of these there, or its id', passing: false };
  }
  if (group && !group.disabled) return null;
  if (group) {
    const hint = `enable it in Slack under People & user groups, or set another group at ${where}`;
    return { where, problem: `the user group ${name} is disabled`, hint, passing: false };
  }
  // Who names a workspace reads of others with it.
  const written = ({ team, handle }: Group) =>
    name.includes('/') ? `${team}/@${handle}` : `@${handle}`;
  const enabled = listed.filter(({ disabled }) => !disabled);
  const same = enabled.find(({ handle }) => name.endsWith(`/@${handle}`));
  const near = same ? written(same) : (nearest(name, enabled.map(written), 1)[0] ?? null);
  const meant =
    near === null ? 'create it in Slack' : `did you mean '${near}'? Otherwise create it`;
  const hint = `${meant}, or set another group there`;
  return { where, problem: `Slack has no user group ${name}`, hint, passing: false };
}

/** The problem of a role that lists an unknown user. */
export function unknownUserProblem(role: RoleName, user: string): SlackProblem {
  const hint = "copy the member ID from the user's profile in Slack (⋮, Copy member ID)";
  const problem = `Slack has no user with the id ${user}`;
  return { where: `roles.${role}`, problem, hint, passing: false };
}

export function groupNamed(name: string, listed: readonly ListedGroup[]): ListedGroup | undefined {
  return listed.find((group) => isNamed(group, name));
}

/** By its id, its handle, or its handle in a workspace: `T0123ABCD/@db-leads`. */
function isNamed({ id, handle, team }: Group, name: string): boolean {
  return name === id || name === `@${handle}` || name === `${team}/@${handle}`;
}

/** The ids behind the handles of the policy. A group that it names by its id needs no memory of its handle. */
export function idsOfHandles(policy: Policy, groups: RoleGroups): ReadonlyMap<string, string> {
  const names = [...policy.roles.values()].flatMap((role) => role.groups);
  const all = [...groups.values()].flat();
  return new Map(
    names.flatMap((name) => {
      const id = all.find((group) => isNamed(group, name))?.id ?? name;
      return id === name ? [] : [[name, id] as const];
    }),
  );
}

/** None, without a call, where the policy names no group, because Slack refuses the call on the free plan. */
export async function listNamedGroups(
  lookups: WebClient,
  home: Pick<Home, 'workspaces'>,
  { roles }: Pick<Policy, 'roles'>,
): Promise<readonly ListedGroup[]> {
  const isNamed = [...roles.values()].some(({ groups }) => groups.length > 0);
  return isNamed ? listGroups(lookups, home) : [];
}

/** All user groups of the workspaces with their members, disabled ones included. Source: docs/slack.md#users-and-groups. */
export async function listGroups(
  lookups: WebClient,
  home: Pick<Home, 'workspaces'>,
): Promise<readonly ListedGroup[]> {
  const all = await groupsIn(lookups, home, { include_disabled: true });
  return all.flatMap(({ team, group: { id, handle, date_delete, users } }) => {
    const disabled = (date_delete ?? 0) !== 0;
    return id && handle
      ? [{ id, handle, team, disabled, users: (users ?? []).filter(isUserId) }]
      : [];
  });
}

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
    if ((await budget.take('people', clock.now() + WITHIN_MS)).ok)
      await accounts.read(id, { fresh: false });
  }

  return async (role: RoleName): Promise<SomeMembers | null> => {
    const late = clock.timeout(WITHIN_MS);
    // Nothing is decided by these names.
    const listed = idsOf(role).catch(() => null);
    const ids = await orLate(late, listed);
    if (!ids) return null;
    const isActive = (id: UserId) => accounts.cached(id)?.standing === 'member';
    const firstId = (id: UserId) => accounts.cached(id)?.ids[0] ?? id;
    const unknown = () => ids.filter((id) => accounts.cached(id) === null);
    const missing = Math.max(0, NAMED_MAX - ids.filter(isActive).length);
    const wanted = unknown().slice(0, missing);
    await orLate(late, Promise.allSettled(wanted.map(lookUp)));
    const active = [...new Set(ids.filter(isActive).map(firstId))];
    return {
      users: active.slice(0, NAMED_MAX),
      more: active.length > NAMED_MAX || unknown().length > 0,
    };
  };
}
