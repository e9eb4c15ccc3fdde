import type { CapabilityRule } from '../../http/optional/capabilities.ts';
import type { CloudPermission } from '../permissions.ts';

/**
 * The optional reads of the cloud API that Signalbox uses, each with the permission that it needs.
 * Source: docs/apis.md#optional-reads
 */
export const CLOUD_CAPABILITIES = {
  identity: { permission: null, notFound: 'route' },
  services: { permission: null, notFound: 'route' },
  service: { permission: 'service:view', notFound: 'object' },
  schedule: { permission: 'service:view', notFound: 'object' },
  backups: { permission: 'service:view-backups', notFound: 'object' },
  pipes: { permission: 'service:manage-pipes', notFound: 'object' },
  'private-endpoints': { permission: 'service:manage-pipes', notFound: 'object' },
  activities: { permission: 'organization:view-activities', notFound: 'route' },
  key: { permission: 'organization:view-api-keys', notFound: 'route' },
} as const satisfies Record<string, CapabilityRule & { permission: CloudPermission | null }>;

export type CloudCapability = keyof typeof CLOUD_CAPABILITIES;
