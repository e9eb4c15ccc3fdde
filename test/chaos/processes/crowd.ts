import { stringify } from 'yaml';
import { ORGANIZATION } from '../../../sandbox/seed/organization.ts';
import { sandboxWorkspace } from '../../../sandbox/slack/sandbox-workspace.ts';
import type { Member, Workspace } from '../../../sandbox/slack/workspace.ts';

const APPROVERS = 20;
/** So many that nobody asks for more in ten minutes than a person's hands can. */
const ASKERS = 50;

function newcomers(count: number, title: string): readonly Member[] {
  const { teamId } = sandboxWorkspace;
  return Array.from({ length: count }, (_, index) => {
    const name = `${title.toLowerCase()}-${index + 1}`;
    const id = `U0${title.slice(0, 4).toUpperCase()}${String(index + 1).padStart(4, '0')}`;
    return { id, name, realName: name, title, kind: 'member', deleted: false, teamId };
  });
}

const approvers = newcomers(APPROVERS, 'Approver');
const operators = newcomers(ASKERS, 'Operator');
const idsOf = (people: readonly Member[]) => people.map(({ id }) => id);
export const APPROVER_IDS = idsOf(approvers);
export const OPERATORS = ['U0ANA00001', 'U0FINN0001', ...idsOf(operators)];

const JOINED: Readonly<Record<string, readonly string[]>> = {
  'db-leads': APPROVER_IDS,
  'db-operators': idsOf(operators),
};

/** The workspace of the sandbox with many people more, of whom twenty may approve. */
export const crowdWorkspace: Workspace = {
  ...sandboxWorkspace,
  members: [...sandboxWorkspace.members, ...approvers, ...operators],
  groups: sandboxWorkspace.groups.map((group) => ({
    ...group,
    users: [...group.users, ...(JOINED[group.handle] ?? [])],
  })),
  channels: sandboxWorkspace.channels.map((room) => ({
    ...room,
    members: [...room.members, ...APPROVER_IDS, ...idsOf(operators)],
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
