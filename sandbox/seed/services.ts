import type { ServiceSeed } from './shapes.ts';

type Sizing = Pick<
  ServiceSeed,
  | 'minReplicaMemoryGb'
  | 'maxReplicaMemoryGb'
  | 'numReplicas'
  | 'idleScaling'
  | 'idleTimeoutMinutes'
  | 'autoscaling'
  | 'isReadonly'
>;

const SMALL: Sizing = {
  minReplicaMemoryGb: 8,
  maxReplicaMemoryGb: 32,
  numReplicas: 2,
  idleScaling: true,
  idleTimeoutMinutes: 15,
  autoscaling: 'vertical',
  isReadonly: false,
};
const LARGE: Sizing = {
  ...SMALL,
  minReplicaMemoryGb: 32,
  maxReplicaMemoryGb: 120,
  numReplicas: 3,
  idleScaling: false,
};
/** The autoscaler has nothing to decide, so what another size would cost can be told. */
const FIXED: Sizing = {
  ...SMALL,
  minReplicaMemoryGb: 16,
  maxReplicaMemoryGb: 16,
  idleScaling: false,
};

const MAIN = { warehouse: 'main', provider: 'aws', region: 'eu-central-1' } as const;
const LAB = { warehouse: 'lab', provider: 'aws', region: 'eu-west-1' } as const;
const REPORTING = { warehouse: 'reporting', provider: 'gcp', region: 'europe-west4' } as const;

export const SERVICES: readonly ServiceSeed[] = [
  {
    ...MAIN,
    ...LARGE,
    name: 'analytics-prod',
    id: '2f7c9d34-5f0e-4f0a-8f58-0f6f0b1c2d3e',
    tags: ['prod'],
    state: 'running',
    isPrimary: true,
    createdDaysAgo: 610,
    usage: { computeCredits: 92, transferCredits: 2.4, rhythm: 'office' },
  },
  {
    ...LAB,
    ...FIXED,
    name: 'lab-core',
    id: 'a2af003f-e3c9-4f31-9f9f-0b74cdf7e6c9',
    tags: ['dev'],
    state: 'running',
    isPrimary: true,
    createdDaysAgo: 402,
    usage: { computeCredits: 11, transferCredits: 0.2, rhythm: 'steady' },
  },
  {
    ...LAB,
    ...SMALL,
    name: 'analytics-dev',
    id: '4bfe8aba-6faa-4295-855a-544dae0b9b75',
    tags: ['dev'],
    state: 'running',
    isPrimary: false,
    createdDaysAgo: 388,
    usage: {
      computeCredits: 9,
      transferCredits: 0.3,
      rhythm: 'office',
      spike: { daysAgo: 8, factor: 5 },
    },
  },
  {
    ...LAB,
    ...SMALL,
    name: 'staging',
    id: '1525c708-e4bc-426d-a9e7-d11b6c27caf5',
    tags: ['staging'],
    state: 'running',
    isPrimary: false,
    createdDaysAgo: 301,
    usage: { computeCredits: 14, transferCredits: 0.4, rhythm: 'office' },
  },
  {
    ...LAB,
    ...SMALL,
    name: 'ci',
    id: 'e877036f-f38c-435c-ad08-e58549df2350',
    tags: ['dev'],
    state: 'idle',
    isPrimary: false,
    numReplicas: 1,
    idleTimeoutMinutes: 5,
    createdDaysAgo: 212,
    usage: { computeCredits: 2.5, transferCredits: 0.1, rhythm: 'office' },
  },
  {
    ...LAB,
    ...SMALL,
    name: 'archive',
    id: '0f8cc66e-7b15-4aed-8d8f-51be2e73622f',
    tags: ['dev'],
    state: 'stopped',
    isPrimary: false,
    numReplicas: 1,
    createdDaysAgo: 540,
    usage: { computeCredits: 6, transferCredits: 0.1, rhythm: 'steady', stoppedDaysAgo: 20 },
  },
  {
    ...LAB,
    ...SMALL,
    name: 'load-test',
    id: 'e9549d7a-e406-489d-aabe-f8aaea52111d',
    tags: ['dev'],
    state: 'degraded',
    isPrimary: false,
    createdDaysAgo: 33,
    usage: { computeCredits: 17, transferCredits: 1.1, rhythm: 'office' },
  },
  {
    ...REPORTING,
    ...LARGE,
    name: 'reporting-core',
    id: '88556874-8c67-44c4-8077-68989d686803',
    tags: ['prod'],
    state: 'running',
    isPrimary: true,
    createdDaysAgo: 477,
    usage: { computeCredits: 41, transferCredits: 1.2, rhythm: 'steady' },
  },
  {
    ...REPORTING,
    ...LARGE,
    name: 'analytics-eu',
    id: 'ff1ce2b8-2781-42d4-9e69-99c37bb321a8',
    tags: ['prod'],
    state: 'running',
    isPrimary: false,
    createdDaysAgo: 259,
    usage: {
      computeCredits: 28,
      transferCredits: 0.8,
      rhythm: 'office',
      shift: { daysAgo: 24, factor: 1.6 },
      renamed: { daysAgo: 55, from: 'reporting-eu' },
    },
  },
  {
    ...REPORTING,
    ...SMALL,
    name: 'bi-readonly',
    id: 'fc93a55d-de5f-4408-ae2a-6127004816c1',
    tags: ['prod'],
    state: 'running',
    isPrimary: false,
    isReadonly: true,
    createdDaysAgo: 190,
    usage: { computeCredits: 16, transferCredits: 3.1, rhythm: 'office' },
  },
  {
    ...REPORTING,
    ...SMALL,
    name: 'finance',
    id: 'e59ffaba-2d43-42f2-a5d9-30dcb0a2fe2b',
    tags: ['prod'],
    state: 'running',
    isPrimary: false,
    createdDaysAgo: 121,
    usage: { computeCredits: 8, transferCredits: 0.2, rhythm: 'office' },
  },
  {
    ...REPORTING,
    ...SMALL,
    name: 'ml-features',
    id: '9bdca388-c2ba-4b43-b5ec-18a4156637fb',
    tags: ['staging'],
    state: 'running',
    isPrimary: false,
    autoscaling: 'horizontal',
    minReplicaMemoryGb: 16,
    maxReplicaMemoryGb: 16,
    createdDaysAgo: 64,
    usage: { computeCredits: 12, transferCredits: 0.5, rhythm: 'steady' },
  },
];
