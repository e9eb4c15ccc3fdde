import { parse, stringify } from 'yaml';
import { sandboxYaml } from '../../sandbox/configuration.ts';
import { userIds, workspaceWith } from '../../test/harness/generated-users.ts';
import { copiesOfStaging, organizationWith, serviceEntries } from '../../test/harness/services.ts';

/** So many that no user reaches the command rate limit. */
export const OPERATORS = userIds('OPER', 30);
export const APPROVERS = userIds('APPR', 20);
export const VIEWERS = userIds('VIEW', 40);
const ALL_USERS = [...OPERATORS, ...APPROVERS, ...VIEWERS];

export const workspace = workspaceWith(ALL_USERS, {
  engineering: ALL_USERS,
  'db-operators': OPERATORS,
  'db-leads': APPROVERS,
});

/** Services that only the soak test uses; one user works on a service at a time. */
export const SHARDS = copiesOfStaging(24);
export type Shard = Pick<(typeof SHARDS)[number], 'name' | 'id'>;

export const organization = organizationWith(SHARDS);

export function yaml(): string {
  const file = parse(sandboxYaml());
  return stringify({ ...file, services: [...file.services, ...serviceEntries(SHARDS)] });
}
