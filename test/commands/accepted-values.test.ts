import { expect, test } from 'vitest';
import type { JsonObject } from '../../src/base/text.ts';
import { acceptanceWarnings } from '../../src/commands/accepted.ts';
import { LIVE_INTERVALS } from '../../src/servers/accepted-values.ts';

const LISTED = '1m, 5m, 15m, 30m, 1h, 6h, 12h, 1d';

test.for<[string, 'create service' | 'update alert', JsonObject, string]>([
  [
    'an interval',
    'update alert',
    { interval: '7m' },
    `Live servers reject the interval “7m”; they accept ${LISTED}.`,
  ],
  [
    'a long name',
    'update alert',
    { name: 'n'.repeat(513) },
    'Live servers reject the name of 513 characters; they accept at most 512.',
  ],
  [
    'a long message',
    'update alert',
    { message: 'm'.repeat(4_097) },
    'Live servers reject the message of 4,097 characters; they accept at most 4,096.',
  ],
  [
    'a region of the contract only',
    'create service',
    { region: 'me-central-1' },
    'Live servers reject the region “me-central-1”.',
  ],
  [
    'a profile of the contract only',
    'create service',
    { profile: 'v1-highcpu-s' },
    'Live servers reject the profile “v1-highcpu-s”; they accept v1-default, v1-highmem-xs, v1-highmem-s, v1-highmem-m, v1-highmem-l, v1-highmem-xl.',
  ],
  [
    'a protocol',
    'create service',
    {
      endpoints: [
        { protocol: 'mysql', enabled: true },
        { protocol: 'https', enabled: false },
      ],
    },
    'Live servers reject the protocol “https”; they accept mysql.',
  ],
  [
    'a region of live servers only',
    'create service',
    { region: 'ca-central-1' },
    'The region “ca-central-1” is not in the contract of the API; live servers accept it.',
  ],
  [
    'a name with a hyphen',
    'create service',
    { name: 'analytics-eu' },
    'The name “analytics-eu” is not in the contract of the API; live servers accept it.',
  ],
])('%s has a warning', ([, operation, body, warning]) => {
  expect(acceptanceWarnings(operation, body)).toEqual([warning]);
});

test.for<['create service' | 'update alert', JsonObject]>([
  ['create service', { name: 'analytics eu', region: 'eu-west-1', profile: 'v1-default' }],
  ['create service', { endpoints: [{ protocol: 'mysql', enabled: true }], numReplicas: 3 }],
  ['update alert', { name: 'n'.repeat(512), message: 'm'.repeat(4_096), threshold: 5 }],
  ['update alert', { name: null, message: null }],
  ...LIVE_INTERVALS.map(
    (interval) => ['update alert', { interval }] as ['update alert', JsonObject],
  ),
])('%s with %j has no warning', ([operation, body]) => {
  expect(acceptanceWarnings(operation, body)).toEqual([]);
});
