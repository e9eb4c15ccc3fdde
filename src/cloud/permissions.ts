/**
 * The permissions of an API key, without their common prefix `control-plane:`, each with a role that
 * has it. A custom role can have any of them. Source: docs/apis.md#permissions-of-the-key
 */
export const CLOUD_ROLES = {
  'organization:view': 'Member',
  'organization:create-service': 'Admin',
  'organization:view-activities': 'Admin',
  'organization:view-api-keys': 'Admin',
  'service:view': 'Service API reader',
  'service:view-backups': 'Basic service reader',
  'service:manage': 'Service API admin',
  'service:manage-scaling-config': 'Service API admin',
  'service:manage-pipes': 'Admin',
} as const;

export type CloudPermission = keyof typeof CLOUD_ROLES;
