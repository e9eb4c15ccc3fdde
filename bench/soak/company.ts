import { parse, stringify } from 'yaml';
import { sandboxYaml } from '../../sandbox/configuration.ts';
import { ORGANIZATION } from '../../sandbox/seed/organization.ts';
import type { OrganizationSeed } from '../../sandbox/seed/shapes.ts';
import { sandboxWorkspace } from '../../sandbox/slack/sandbox-workspace.ts';
import type { Member, Workspace } from '../../sandbox/slack/workspace.ts';

const idsOf = (kind: string, count: number) =>
  Array.from({ length: count }, (_, index) => `U0${kind}${String(index).padStart(4, '0')}`);

/** So many that nobody of them asks faster than a person may. */
export const OPERATORS = idsOf('OPER', 30);
export const APPROVERS = idsOf('APPR', 20);
export const VIEWERS = idsOf('VIEW', 40);
const EVERYBODY = [...OPERATORS, ...APPROVERS, ...VIEWERS];

const MORE: Readonly<Record<string, readonly string[]>> = {
  engineering: EVERYBODY,
  'db-operators': OPERATORS,
  'db-leads': APPROVERS,
};

/** The workspace of the sandbox with a company's worth of people in it. */
export const workspace: Workspace = {
  ...sandboxWorkspace,
  members: [...sandboxWorkspace.members, ...EVERYBODY.map(memberCalled)],
  groups: sandboxWorkspace.groups.map((group) => {
    return { ...group, users: [...group.users, ...(MORE[group.handle] ?? [])] };
  }),
  channels: sandboxWorkspace.channels.map((room) => {
    return { ...room, members: [...room.members, ...EVERYBODY] };
  }),
};

function memberCalled(id: string): Member {
  const { teamId } = sandboxWorkspace;
  const name = id.toLowerCase();
  return { id, name, realName: id, title: '', kind: 'member', deleted: false, teamId };
}

export interface Shard {
  readonly name: string;
  readonly id: string;
}

/** Services of the soak alone: whoever works at one has it for themselves. */
export const SHARDS: readonly Shard[] = Array.from({ length: 24 }, (_, index) => ({
  name: `shard-${index + 1}`,
  id: `00000000-0000-4000-8000-${String(index + 1).padStart(12, '0')}`,
}));

export function organization(): OrganizationSeed {
  const like = ORGANIZATION.services.find(({ name }) => name === 'staging');
  if (!like) throw new Error('The seed has no service called staging');
  const shards = SHARDS.map((shard) => ({ ...like, ...shard }));
  return { ...ORGANIZATION, services: [...ORGANIZATION.services, ...shards] };
}

/** Every second one needs two approvals. */
export function yaml(): string {
  const file = parse(sandboxYaml());
  const shards = SHARDS.map((shard, index) => {
    return { ...shard, tags: [index % 2 === 0 ? 'prod' : 'dev'], warehouse: 'lab' };
  });
  return stringify({ ...file, services: [...file.services, ...shards] });
}
