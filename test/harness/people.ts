import { ORGANIZATION } from '../../sandbox/seed/organization.ts';
import { sandboxWorkspace } from '../../sandbox/slack/sandbox-workspace.ts';
import type { Member, Workspace } from '../../sandbox/slack/workspace.ts';

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

/** Copies of the service `staging`, so that each change of a test can have its own service. */
export function copiesOfStaging(count: number, prefix = 'shard') {
  const staging = ORGANIZATION.services.find(({ name }) => name === 'staging');
  if (!staging) throw new Error('The seed has no service called staging');
  return Array.from({ length: count }, (_, index) => ({
    ...staging,
    name: `${prefix}-${index + 1}`,
    id: `00000000-0000-4000-8000-${String(index + 1).padStart(12, '0')}`,
  }));
}

/** Configuration entries of these services; every second one is tagged prod and needs two approvals. */
export function serviceEntries(
  services: readonly { readonly name: string; readonly id: string }[],
) {
  return services.map(({ name, id }, index) => {
    return { name, id, tags: [index % 2 === 0 ? 'prod' : 'dev'], warehouse: 'lab' };
  });
}
