import { expect, test } from 'vitest';
import { cloudServer, serviceId } from './servers.ts';

const STATE = `/services/${serviceId('staging')}/state`;

test('a fault applies to the given number of requests of its operation', async () => {
  const { ask, cloud } = await cloudServer();
  cloud.injectFault({ operation: 'set state', fault: '503', times: 2 });
  const statuses = [];
  for (const command of ['start', 'start', 'start']) {
    statuses.push((await ask('PATCH', STATE, { command })).status);
    statuses.push((await ask('GET', '/usageCost')).status);
  }
  expect(statuses).toEqual([503, 400, 503, 400, 200, 400]);
  expect(cloud.activeFaults()).toEqual([]);
});

test('faults of one operation apply in order and can be cleared', async () => {
  const { ask, cloud } = await cloudServer();
  cloud.injectFault({ operation: 'set state', fault: '502', times: 1 });
  cloud.injectFault({ operation: 'set state', fault: '503', times: 5 });
  expect((await ask('PATCH', STATE, { command: 'start' })).status).toBe(502);
  expect((await ask('PATCH', STATE, { command: 'start' })).status).toBe(503);
  expect(cloud.activeFaults()).toEqual([
    { api: 'cloud', operation: 'set state', fault: '503', times: 4 },
  ]);
  cloud.clearFaults();
  expect((await ask('PATCH', STATE, { command: 'start' })).status).toBe(200);
});

test.for([
  ['an operation of the other API', 'get alert', '503', 1, /no operation/],
  ['a fault of another operation', 'set state', 'costs-null', 1, /does not apply/],
  ['an unknown fault', 'set state', 'earthquake', 1, /no fault/],
  ['no time at all', 'set state', '503', 0, /from 1/],
] as const)('%s cannot be injected', async ([, operation, fault, times, why]) => {
  const { cloud } = await cloudServer();
  expect(() => cloud.injectFault({ operation, fault, times })).toThrow(why);
  expect(cloud.activeFaults()).toEqual([]);
});
