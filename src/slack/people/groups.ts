import { WebAPIPlatformError, type WebClient } from '@slack/web-api';
import type { RoleName } from '../../changes/change.ts';
import type { Policy } from '../../policy/policy-types.ts';

/** A role's user groups by id. Handles are looked up once: a group may be renamed, its id stays. */
export type RoleGroups = ReadonlyMap<RoleName, readonly Group[]>;

export interface Group {
  readonly id: string;
  readonly handle: string;
}

export type GroupsFound =
  | { readonly ok: true; readonly groups: RoleGroups }
  | { readonly ok: false; readonly problems: readonly string[] };

export interface Listed extends Group {
  readonly disabled: boolean;
}

/** The groups that the policy names, or every problem with them as sentences. */
export async function findGroups(lookups: WebClient, policy: Policy): Promise<GroupsFound> {
  const listed = await listGroups(lookups);
  const problems: string[] = [];
  const groups = [...policy.roles].map(([role, { groups }]) => {
    const found = groups.flatMap((name) => {
      const group = listed.find(({ id, handle }) => name === id || name === `@${handle}`);
      if (!group) problems.push(`roles.${role}: Slack has no user group ${name}.`);
      else if (group.disabled) problems.push(`roles.${role}: the user group ${name} is disabled.`);
      else return [group];
      return [];
    });
    return [role, found] as const;
  });
  problems.push(...(await unknownUsers(lookups, policy)));
  return problems.length > 0 ? { ok: false, problems } : { ok: true, groups: new Map(groups) };
}

/** Problems with user ids of the policy that Slack does not know. */
async function unknownUsers(lookups: WebClient, policy: Policy): Promise<readonly string[]> {
  const named = [...policy.roles].flatMap(([role, { users }]) =>
    users.map((user) => ({ role, user })),
  );
  const checks = named.map(async ({ role, user }) => {
    const known = await isKnown(lookups, user);
    return known ? [] : [`roles.${role}: Slack has no user with the id ${user}.`];
  });
  return (await Promise.all(checks)).flat();
}

async function isKnown(lookups: WebClient, user: string): Promise<boolean> {
  try {
    await lookups.users.info({ user });
    return true;
  } catch (error) {
    if (error instanceof WebAPIPlatformError && error.data.error === 'user_not_found') return false;
    throw error;
  }
}

/** All user groups of the workspace, disabled ones included. */
export async function listGroups(lookups: WebClient): Promise<readonly Listed[]> {
  const { usergroups } = await lookups.usergroups.list({ include_disabled: true });
  if (!usergroups) throw new Error('Slack answered usergroups.list without groups');
  return usergroups.flatMap(({ id, handle, date_delete }) =>
    id && handle ? [{ id, handle, disabled: (date_delete ?? 0) !== 0 }] : [],
  );
}
