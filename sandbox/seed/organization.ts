import { ACTIVITIES } from './activities.ts';
import { BACKUPS } from './backups.ts';
import { PIPES } from './pipes.ts';
import { SCHEDULES } from './schedules.ts';
import { SERVICES, UNLISTED_SERVICE } from './services.ts';
import type { OrganizationSeed } from './shapes.ts';

/** The organization that the configuration lists: 12 services in 3 warehouses, with pipes and backups. */
export const ORGANIZATION: OrganizationSeed = {
  id: '7d5e2c1a-8f0b-4c62-9a55-0b2f6f1f9f10',
  plan: 'paid',
  tier: 'scale',
  warehouses: [
    warehouse('main', '4e55fb27-7c55-4261-9f95-8d077d2398bc', 3.2, 0.9),
    warehouse('lab', 'c6f8d9b1-e040-4c62-b261-c6813e9bc56e', 1.4, 0.3),
    warehouse('reporting', 'fffc82f8-84d8-415a-bfc4-ad7ddcb6e3d3', 7.6, 2.1),
  ],
  services: SERVICES,
  pipes: PIPES,
  backups: BACKUPS,
  schedules: SCHEDULES,
  activities: ACTIVITIES,
};

/** The same with a service that no configuration lists, which the sandbox itself uses. */
export const SANDBOX_ORGANIZATION: OrganizationSeed = {
  ...ORGANIZATION,
  services: [...SERVICES, UNLISTED_SERVICE],
};

function warehouse(name: string, id: string, storage: number, backup: number) {
  return { name, id, dailyCredits: { storage, backup } };
}

/** The key that the cloud simulator accepts. */
export const CLOUD_KEY = { id: 'sandbox-key-id', secret: 'sandbox-key-secret' };

/** The names of two organizations in one configuration, and the key of the second one. */
export const NAMES = ['prod-eu', 'prod-us'] as const;
export const OTHER_KEY = { id: 'other-key-id', secret: 'other-key-secret' };

/** The variables with the keys of one organization, or of two. */
export function cloudKeys(organizations: number): Readonly<Record<string, string>> {
  const key = { CLOUD_API_KEY_ID: CLOUD_KEY.id, CLOUD_API_KEY_SECRET: CLOUD_KEY.secret };
  if (organizations < 2) return key;
  const keys = [CLOUD_KEY, OTHER_KEY].map(({ id, secret }, at) => {
    const suffix = NAMES[at]?.toUpperCase().replace('-', '_');
    return { [`CLOUD_API_KEY_ID_${suffix}`]: id, [`CLOUD_API_KEY_SECRET_${suffix}`]: secret };
  });
  return Object.assign({}, ...keys);
}

/** Another organization, whose services, pipes and backups have the same names and other ids. */
export function otherOrganization(seed: OrganizationSeed = ORGANIZATION): OrganizationSeed {
  const ids = /"([0-9a-f])([0-9a-f]{7}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})"/g;
  const other = JSON.stringify(seed).replace(ids, (_, first: string, rest: string) => {
    return JSON.stringify(`${((Number.parseInt(first, 16) + 8) % 16).toString(16)}${rest}`);
  });
  return JSON.parse(other);
}

/** The access token that the alerts simulator accepts. */
export const ALERTS_TOKEN = 'sandbox-alerts-token';
