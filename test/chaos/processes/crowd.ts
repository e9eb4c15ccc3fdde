import { stringify } from 'yaml';
import { ORGANIZATION } from '../../../src/sandbox/seed/organization.ts';
import { sandboxWorkspace } from '../../../src/sandbox/slack/sandbox-workspace.ts';
import type { Member, Workspace } from '../../../src/sandbox/slack/workspace.ts';

const APPROVERS = 20;
export const OPERATORS = ['U0ANA00001', 'U0FINN0001'];

function approver(index: number): Member {
  const name = `approver-${index}`;
  const id = `U0APPR${String(index).padStart(4, '0')}`;
  const { teamId } = sandboxWorkspace;
  return { id, name, realName: name, title: 'Approver', kind: 'member', deleted: false, teamId };
}

const approvers = Array.from({ length: APPROVERS }, (_, index) => approver(index + 1));
export const APPROVER_IDS = approvers.map(({ id }) => id);

/** The workspace of the sandbox with twenty people more, who may all approve. */
export const crowdWorkspace: Workspace = {
  ...sandboxWorkspace,
  members: [...sandboxWorkspace.members, ...approvers],
  groups: sandboxWorkspace.groups.map((group) =>
    group.handle === 'db-leads' ? { ...group, users: [...group.users, ...APPROVER_IDS] } : group,
  ),
  channels: sandboxWorkspace.channels.map((room) => ({
    ...room,
    members: [...room.members, ...APPROVER_IDS],
  })),
};

/** One service for each change, so that the server's own count tells the changes apart. */
export function shards(count: number) {
  const like = ORGANIZATION.services.find(({ name }) => name === 'staging');
  if (!like) throw new Error('The seed has no service called staging');
  return Array.from({ length: count }, (_, index) => ({
    ...like,
    name: `shard-${index + 1}`,
    id: `00000000-0000-4000-8000-${String(index + 1).padStart(12, '0')}`,
  }));
}

/** Every second one needs two approvals. */
export function shardsYaml(yaml: object, own: ReturnType<typeof shards>): string {
  const services = own.map(({ name, id }, index) => {
    return { name, id, tags: [index % 2 === 0 ? 'prod' : 'dev'], warehouse: 'lab' };
  });
  return stringify({ ...yaml, services });
}
