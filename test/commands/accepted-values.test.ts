import { expect, test } from 'vitest';
import type { JsonObject } from '../../src/base/text.ts';
import { acceptanceWarnings } from '../../src/commands/accepted.ts';
import { LIVE_INTERVALS } from '../../src/servers/accepted-values.ts';

const LISTED = '1m, 5m, 15m, 30m, 1h, 6h, 12h, 1d';

type Operation = 'create service' | 'update alert';

const HTTPS_TOO = {
  endpoints: [
    { protocol: 'mysql', enabled: true },
    { protocol: 'https', enabled: false },
  ],
};
const PROFILES = ['highmem-xs', 'highmem-s', 'highmem-m', 'highmem-l', 'highmem-xl'];
const OFFERED = `they accept ${['default', ...PROFILES].map((name) => `v1-${name}`).join(', ')}`;

test.for<[string, Operation, JsonObject, string]>([
  ['interval', 'update alert', { interval: '7m' }, `interval “7m”; they accept ${LISTED}`],
  ['name', 'update alert', { name: 'n'.repeat(513) }, `name of 513 ${atMost('512')}`],
  ['message', 'update alert', { message: 'm'.repeat(4097) }, `message of 4,097 ${atMost('4,096')}`],
  ['region', 'create service', { region: 'me-central-1' }, 'region “me-central-1”'],
  ['profile', 'create service', { profile: 'v1-highcpu-s' }, `profile “v1-highcpu-s”; ${OFFERED}`],
  ['protocol', 'create service', HTTPS_TOO, 'protocol “https”; they accept mysql'],
])('the %s that live servers reject has a warning', ([, operation, body, warning]) => {
  expect(acceptanceWarnings(operation, body)).toEqual([`Live servers reject the ${warning}.`]);
});

function atMost(count: string): string {
  return `characters; they accept at most ${count}`;
}

test.for([
  ['region', 'ca-central-1'],
  ['name', 'analytics-eu'],
])('the %s %s, of live servers only, has a warning', ([field = '', value = '']) => {
  expect(acceptanceWarnings('create service', { [field]: value })).toEqual([
    `The ${field} “${value}” is not in the contract of the API; live servers accept it.`,
  ]);
});

test.for<[Operation, JsonObject]>([
  ['create service', { name: 'analytics eu', region: 'eu-west-1', profile: 'v1-default' }],
  ['create service', { endpoints: [{ protocol: 'mysql', enabled: true }], numReplicas: 3 }],
  ['update alert', { name: 'n'.repeat(512), message: 'm'.repeat(4_096), threshold: 5 }],
  ['update alert', { name: null, message: null }],
  ...LIVE_INTERVALS.map((interval): [Operation, JsonObject] => ['update alert', { interval }]),
])('%s with %j has no warning', ([operation, body]) => {
  expect(acceptanceWarnings(operation, body)).toEqual([]);
});
