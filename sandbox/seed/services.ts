import type { ServiceSeed } from './shapes.ts';

const SMALL = {
  ...{ minReplicaMemoryGb: 8, maxReplicaMemoryGb: 32, numReplicas: 2 },
  ...{ idleScaling: true, idleTimeoutMinutes: 15, isReadonly: false, isPrimary: false },
  autoscaling: 'vertical',
  state: 'running',
} as const;
const LARGE = {
  ...SMALL,
  ...{ minReplicaMemoryGb: 32, maxReplicaMemoryGb: 120, numReplicas: 3, idleScaling: false },
} as const;

const MAIN = {
  warehouse: 'main',
  provider: 'aws',
  region: 'eu-central-1',
  tags: ['prod'],
} as const;
const LAB = { warehouse: 'lab', provider: 'aws', region: 'eu-west-1', tags: ['dev'] } as const;
const REPORTING = {
  ...{ warehouse: 'reporting', region: 'europe-west4', tags: ['prod'] },
  provider: 'gcp',
} as const;

type Usage = ServiceSeed['usage'];
const office = (computeCredits: number, transferCredits: number, more: Partial<Usage> = {}) => {
  return { computeCredits, transferCredits, rhythm: 'office', ...more } as const;
};
const steady = (computeCredits: number, transferCredits: number, more: Partial<Usage> = {}) => {
  return { ...office(computeCredits, transferCredits, more), rhythm: 'steady' } as const;
};

export const SERVICES: readonly ServiceSeed[] = [
  {
    ...{ ...MAIN, ...LARGE, name: 'analytics-prod', team: 'analytics', createdDaysAgo: 610 },
    ...{ id: '2f7c9d34-5f0e-4f0a-8f58-0f6f0b1c2d3e', isPrimary: true },
    usage: office(92, 2.4),
  },
  {
    ...{ ...LAB, ...SMALL, name: 'lab-core', team: 'platform', createdDaysAgo: 402 },
    ...{ id: 'a2af003f-e3c9-4f31-9f9f-0b74cdf7e6c9', isPrimary: true },
    // A fixed size without idling, so that Signalbox can calculate the cost of another size.
    ...{ minReplicaMemoryGb: 16, maxReplicaMemoryGb: 16, idleScaling: false },
    usage: steady(11, 0.2),
  },
  {
    ...{ ...LAB, ...SMALL, name: 'analytics-dev', team: 'analytics', createdDaysAgo: 388 },
    id: '4bfe8aba-6faa-4295-855a-544dae0b9b75',
    usage: office(9, 0.3, { spike: { daysAgo: 8, factor: 5 } }),
  },
  {
    ...{ ...LAB, ...SMALL, name: 'staging', team: 'platform', createdDaysAgo: 301 },
    ...{ id: '1525c708-e4bc-426d-a9e7-d11b6c27caf5', tags: ['staging'] },
    usage: office(14, 0.4),
  },
  {
    ...{ ...LAB, ...SMALL, name: 'ci', team: 'platform', state: 'idle', createdDaysAgo: 212 },
    id: 'e877036f-f38c-435c-ad08-e58549df2350',
    ...{ numReplicas: 1, idleTimeoutMinutes: 5 },
    usage: office(2.5, 0.1),
  },
  {
    ...{ ...LAB, ...SMALL, name: 'archive', team: 'platform', createdDaysAgo: 540 },
    ...{ id: '0f8cc66e-7b15-4aed-8d8f-51be2e73622f', state: 'stopped' },
    numReplicas: 1,
    usage: steady(6, 0.1, { stoppedDaysAgo: 20 }),
  },
  {
    ...{ ...LAB, ...SMALL, name: 'load-test', state: 'degraded', createdDaysAgo: 33 },
    id: 'e9549d7a-e406-489d-aabe-f8aaea52111d',
    usage: office(17, 1.1),
  },
  {
    ...{ ...REPORTING, ...LARGE, name: 'reporting-core', team: 'reporting', createdDaysAgo: 477 },
    ...{ id: '88556874-8c67-44c4-8077-68989d686803', isPrimary: true },
    usage: steady(41, 1.2),
  },
  {
    ...{ ...REPORTING, ...LARGE, name: 'analytics-eu', team: 'analytics', createdDaysAgo: 259 },
    id: 'ff1ce2b8-2781-42d4-9e69-99c37bb321a8',
    usage: office(28, 0.8, {
      shift: { daysAgo: 24, factor: 1.6 },
      renamed: { daysAgo: 55, from: 'reporting-eu' },
    }),
  },
  {
    ...{ ...REPORTING, ...SMALL, name: 'bi-readonly', team: 'reporting', createdDaysAgo: 190 },
    ...{ id: 'fc93a55d-de5f-4408-ae2a-6127004816c1', isReadonly: true },
    usage: office(16, 3.1),
  },
  {
    ...{ ...REPORTING, ...SMALL, name: 'finance', team: 'reporting', createdDaysAgo: 121 },
    id: 'e59ffaba-2d43-42f2-a5d9-30dcb0a2fe2b',
    usage: office(8, 0.2),
  },
  {
    ...{ ...REPORTING, ...SMALL, name: 'ml-features', team: 'science', createdDaysAgo: 64 },
    ...{ id: '9bdca388-c2ba-4b43-b5ec-18a4156637fb', tags: ['staging'] },
    ...{ autoscaling: 'horizontal', minReplicaMemoryGb: 16, maxReplicaMemoryGb: 16 },
    usage: steady(12, 0.5),
  },
];

/** On the server, but in no configuration: extended reads discover it. */
export const UNLISTED_SERVICE: ServiceSeed = {
  ...{ ...LAB, ...SMALL, name: 'trial', tags: [], createdDaysAgo: 2 },
  id: '6b1f0c52-93d4-4e0e-8a67-5d2c9e1b7f34',
  usage: office(3, 0.1),
};
