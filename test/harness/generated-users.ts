import { sandboxWorkspace } from '../../sandbox/slack/workspace/sandbox-workspace.ts';
import type { Member, Workspace } from '../../sandbox/slack/workspace/workspace.ts';

/** Ids of generated users, for example U0OPER0000. */
export function userIds(kind: string, count: number): readonly string[] {
  return Array.from({ length: count }, (_, index) => `U0${kind}${String(index).padStart(4, '0')}`);
}

/** The sandbox workspace with more members: all join every channel and the user groups that list them. */
export function workspaceWith(
  ids: readonly string[],
  groups: Readonly<Record<string, readonly string[]>>,
): Workspace {
  return {
    ...sandboxWorkspace,
    members: [...sandboxWorkspace.members, ...ids.map(memberWith)],
    groups: sandboxWorkspace.groups.map((group) => {
      return { ...group, users: [...group.users, ...(groups[group.handle] ?? [])] };
    }),
    channels: sandboxWorkspace.channels.map((channel) => {
      return { ...channel, members: [...channel.members, ...ids] };
    }),
  };
}

function memberWith(id: string): Member {
  const { teamId } = sandboxWorkspace;
  const name = id.toLowerCase();
  return { id, name, realName: id, title: '', kind: 'member', deleted: false, teamId };
}
