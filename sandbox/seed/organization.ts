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

/** The access token that the alerts simulator accepts. */
export const ALERTS_TOKEN = 'sandbox-alerts-token';
