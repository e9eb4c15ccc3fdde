import { sandboxWorkspace } from '../sandbox/slack/sandbox-workspace.ts';
import type { Member, Workspace } from '../sandbox/slack/workspace.ts';

/**
 * Nobody types more than sixty commands a minute and gets them answered, so that a load needs as
 * many people as it would have in life; they may all see the services.
 */
export const CROWD = Array.from(
  { length: 1_000 },
  (_, index) => `U0CROWD${String(index).padStart(4, '0')}`,
);

export const crowdedWorkspace: Workspace = {
  ...sandboxWorkspace,
  members: [...sandboxWorkspace.members, ...CROWD.map(memberCalled)],
  groups: sandboxWorkspace.groups.map((group) =>
    group.handle === 'engineering' ? { ...group, users: [...group.users, ...CROWD] } : group,
  ),
};

function memberCalled(id: string): Member {
  const { teamId } = sandboxWorkspace;
  const name = id.toLowerCase();
  return { id, name, realName: id, title: '', kind: 'member', deleted: false, teamId };
}
