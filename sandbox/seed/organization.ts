import { BACKUPS } from './backups.ts';
import { PIPES } from './pipes.ts';
import { SERVICES } from './services.ts';
import type { OrganizationSeed } from './shapes.ts';

/** The organization of the sandbox: 12 services in 3 warehouses, with pipes and backups. */
export const ORGANIZATION: OrganizationSeed = {
  id: '7d5e2c1a-8f0b-4c62-9a55-0b2f6f1f9f10',
  plan: 'paid',
  tier: 'scale',
  warehouses: [
    {
      name: 'main',
      id: '4e55fb27-7c55-4261-9f95-8d077d2398bc',
      dailyCredits: { storage: 3.2, backup: 0.9 },
    },
    {
      name: 'lab',
      id: 'c6f8d9b1-e040-4c62-b261-c6813e9bc56e',
      dailyCredits: { storage: 1.4, backup: 0.3 },
    },
    {
      name: 'reporting',
      id: 'fffc82f8-84d8-415a-bfc4-ad7ddcb6e3d3',
      dailyCredits: { storage: 7.6, backup: 2.1 },
    },
  ],
  services: SERVICES,
  pipes: PIPES,
  backups: BACKUPS,
};

/** The key that the cloud simulator accepts. */
export const CLOUD_KEY = { id: 'sandbox-key-id', secret: 'sandbox-key-secret' };

/** The access token that the alerts simulator accepts. */
export const ALERTS_TOKEN = 'sandbox-alerts-token';
