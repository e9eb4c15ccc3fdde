import type { WebClient } from '@slack/web-api';
import { nearestWord } from '../../base/problem.ts';
import type { RoleName } from '../../domain/change.ts';
import type { Policy } from '../../domain/policy.ts';
import { callProblem, type SlackProblem } from '../token-errors.ts';
import { type CheckedUsers, checkUsers, type UserReads } from './listed-users.ts';

/** A role's user groups by id. Handles are looked up once: a group may be renamed, its id stays. */
export type RoleGroups = ReadonlyMap<RoleName, readonly Group[]>;

interface Group {
  readonly id: string;
  readonly handle: string;
}

type GroupLookup =
  | {
      readonly ok: true;
      readonly groups: RoleGroups;
      readonly people: CheckedUsers;
    }
  | { readonly ok: false; readonly problems: readonly SlackProblem[] };

export interface ListedGroup extends Group {
  readonly disabled: boolean;
  readonly users: readonly string[];
}

/** The groups that the policy names, or every problem with its groups and people. */
export async function findGroups(
  policy: Policy,
  workspace: string,
  reads: UserReads,
): Promise<GroupLookup> {
  const roles = [...policy.roles];
  const asProblem = (error: unknown) => callProblem('roles', error);
  const [listed, people] = await Promise.all([
    reads.retryLimited(() => listNamedGroups(reads.lookups, policy)).catch(asProblem),
    checkUsers(
      roles.flatMap(([, { users }]) => users),
      reads,
    ).catch(asProblem),
  ]);
  if ('problem' in people)
    return { ok: false, problems: [...('problem' in listed ? [listed] : []), people] };
  const unknown = roles.flatMap(([role, { users }]) =>
    users
      .filter((user) => people.get(user) === 'unknown')
      .map((user) => unknownUserProblem(role, user)),
  );
  if ('problem' in listed) return { ok: false, problems: [listed, ...unknown] };
  const missing = roles.flatMap(([role, { groups }]) =>
    groups.flatMap((name) => groupProblem(role, name, listed) ?? []),
  );
  const problems = [...missing, ...unknown];
  if (problems.length > 0) {
    const named = roles.flatMap(([, { groups }]) => groups);
    const isForeign = missing.length === named.length && ![...people.values()].includes('known');
    return {
      ok: false,
      problems: [...(isForeign ? [foreignWorkspace(workspace)] : []), ...problems],
    };
  }
  const groups = roles.map(
    ([role, { groups }]) =>
      [role, groups.flatMap((name) => groupNamed(name, listed) ?? [])] as const,
  );
  return { ok: true, groups: new Map(groups), people };
}

function foreignWorkspace(workspace: string): SlackProblem {
  const problem = `the workspace ${workspace} has none of the groups and people of signalbox.yaml`;
  const hint = 'if this is not your workspace, set the bot token of the app in your workspace';
  return { where: 'SLACK_BOT_TOKEN', problem, hint, passing: false };
}

/** Why a role cannot use the group with this name; null where it can. */
export function groupProblem(
  role: RoleName,
  name: string,
  listed: readonly ListedGroup[],
): SlackProblem | null {
  const group = groupNamed(name, listed);
  if (group && !group.disabled) return null;
  const where = `roles.${role}`;
  if (group) {
    const hint = `enable it in Slack under People & user groups, or set another group at ${where}`;
    return { where, problem: `the user group ${name} is disabled`, hint, passing: false };
  }
  const handles = listed.filter(({ disabled }) => !disabled).map(({ handle }) => `@${handle}`);
  const near = nearestWord(name, handles);
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
  return listed.find(({ id, handle }) => name === id || name === `@${handle}`);
}

/**
 * All user groups of the workspace with their members, disabled ones included; none, without a
 * call, where the policy names no group, because Slack refuses the call on the free plan.
 * Source: docs/slack.md#users-and-groups.
 */
export async function listNamedGroups(
  lookups: WebClient,
  { roles }: Pick<Policy, 'roles'>,
): Promise<readonly ListedGroup[]> {
  if ([...roles.values()].every(({ groups }) => groups.length === 0)) return [];
  const options = { include_disabled: true, include_users: true };
  const { usergroups } = await lookups.usergroups.list(options);
  if (!usergroups) throw new Error('Slack answered usergroups.list without groups');
  return usergroups.flatMap(({ id, handle, date_delete, users = [] }) =>
    id && handle ? [{ id, handle, disabled: (date_delete ?? 0) !== 0, users }] : [],
  );
}
