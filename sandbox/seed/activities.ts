import type { ActivitySeed } from './shapes.ts';

const HOUR = 60;

const MARA = {
  actorType: 'user',
  actorId: 'usr-8c1f0a',
  actorDetails: 'mara@example.com',
  actorIpAddress: '203.0.113.7',
} as const;

/** What happened in the console before the sandbox started. */
export const ACTIVITIES: readonly ActivitySeed[] = [
  { ...MARA, service: 'archive', type: 'service_stop', minutesAgo: 20 * 24 * HOUR },
  { ...MARA, service: null, type: 'key_create', minutesAgo: 5 * 24 * HOUR },
  {
    ...{ actorType: 'system', service: 'ci', type: 'service_idle', minutesAgo: 7 * HOUR },
    ...{ actorId: 'system', actorDetails: 'idle scaling', actorIpAddress: '' },
  },
  {
    ...MARA,
    ...{ service: 'reporting-core', minutesAgo: 2 * HOUR },
    type: 'service_update_autoscaling_memory',
  },
];
