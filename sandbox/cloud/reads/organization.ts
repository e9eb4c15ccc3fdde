import type { Call } from '../../api/call.ts';
import type { Reply } from '../../api/reply.ts';
import type { Json } from '../../json.ts';
import { addDays } from '../days.ts';
import { refuse, success } from '../replies.ts';
import type { CloudState } from '../state.ts';

/** The one organization of the key. */
export function listOrganizations(cloud: CloudState): Reply {
  return success(cloud, [organizationReply(cloud)]);
}

// An organization has no field for its plan or tier.
function organizationReply({ organization, bornAt }: CloudState): Json {
  return {
    id: organization.id,
    name: 'Example',
    createdAt: addDays(bornAt, -720).toISOString(),
    privateEndpoints: [],
    byocConfig: [],
    enableCoreDumps: true,
  };
}

export function getKey(cloud: CloudState, { params }: Call): Reply {
  const key = cloud.keys.get(params.keyId ?? '');
  if (key === undefined) return refuse(cloud, 404, 'NOT_FOUND');
  const isAdmin = key.role === 'admin';
  return success(cloud, {
    name: `key ${key.id}`,
    state: key.active ? 'enabled' : 'disabled',
    assignedRoles: [
      { roleId: `role-${key.role}`, roleName: isAdmin ? 'Admin' : 'Service API reader' },
    ].map((role) => ({ ...role, roleType: 'system' })),
    roles: [key.role],
    ...(key.expireAt === undefined ? {} : { expireAt: key.expireAt }),
    usedAt: cloud.now().toISOString(),
    ipAccessList: [{ source: '203.0.113.0/24', description: 'office' }],
    keySuffix: key.id.slice(-4),
  });
}
