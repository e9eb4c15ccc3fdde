import type { UserId } from '../../changes/change.ts';
import type { RoleName } from '../../changes/requirement.ts';
import type { Policy } from '../policy-types.ts';

/**
 * Returns the roles of a user under a policy, without a lookup in Slack. The file decides about
 * roles that list users only. For a role with groups, the user is a member if the file lists the
 * user or if the user was recorded with a role of this name.
 */
export function rolesUnder(
  { roles }: Policy,
  user: UserId,
  recorded: readonly RoleName[],
): readonly RoleName[] {
  return [...roles]
    .filter(([name, { groups, users }]) => {
      return users.includes(user) || (groups.length > 0 && recorded.includes(name));
    })
    .map(([name]) => name);
}
