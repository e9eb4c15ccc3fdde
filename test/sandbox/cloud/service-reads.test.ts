import { expect, test } from 'vitest';
import { ORGANIZATION } from '../../../sandbox/seed/organization.ts';
import type { ScheduleEntry } from '../../../sandbox/seed/shapes.ts';
import { cloudServer, serviceId } from '../servers.ts';

const STAGING = serviceId('staging');
const PATH = `/services/${STAGING}`;
const MINUTE = 60_000;

test('the list has every service that is not deleted, and one service has the same fields', async () => {
  const { ask, cloud } = await cloudServer();
  cloud.setServiceState(serviceId('finance'), 'softdeleted');
  const { status, json } = await ask('GET', '/services');
  expect(status).toBe(200);
  expect(json.result).toHaveLength(ORGANIZATION.services.length - 1);
  const listed = Object.values(json.result ?? {}).find((one) => String(one?.id) === STAGING);
  const { json: one } = await ask('GET', PATH);
  expect(one.result).toEqual(listed);
  expect((await ask('GET', `/services/${serviceId('finance')}`)).status).toBe(404);
});

test.for<[string, number, readonly string[]]>([
  ['stop', 90_000, ['stopping', 'stopped']],
  ['start', 60_000, ['starting', 'running']],
])(
  'after %s a read shows the transition, and its end after %i ms',
  async ([command, ms, states]) => {
    const { ask, cloud, clock } = await cloudServer();
    if (command === 'start') cloud.setServiceState(STAGING, 'stopped');
    const state = async () => (await ask('GET', PATH)).json.result?.state;
    await ask('PATCH', `${PATH}/state`, { command });
    expect(await state()).toBe(states[0]);
    clock.advance(ms - 1);
    expect(await state()).toBe(states[0]);
    clock.advance(1);
    expect(await state()).toBe(states[1]);
  },
);

const NIGHT: ScheduleEntry = {
  ...{ id: 'd4b0c1a2-0000-4000-8000-000000000001', name: 'Night load', weekdays: [5] },
  ...{ startHourUtc: 22, endHourUtc: 4, minReplicaMemoryGb: 16, maxReplicaMemoryGb: 128 },
};

// The clock starts on a Friday at 12:00 UTC.
test.for<[string, number, boolean]>([
  ['before it starts', 9, false],
  ['on its evening', 10, true],
  ['after midnight', 15, true],
  ['after it has ended', 16, false],
  ['on another evening', 34, false],
])('an entry of a scaling schedule %s', async ([, hours, active]) => {
  const { ask, cloud, clock } = await cloudServer();
  cloud.setSchedule(STAGING, [NIGHT]);
  clock.advance(hours * 60 * MINUTE);
  const { result } = (await ask('GET', PATH)).json;
  expect(result?.maxReplicaMemoryGb).toBe(32);
  expect(result?.currentScaling).toMatchObject(
    active
      ? { effectiveMaxReplicaMemoryGb: 128, activeEntryId: NIGHT.id }
      : { effectiveMaxReplicaMemoryGb: 32 },
  );
  const { status, json } = await ask('GET', `${PATH}/scalingSchedule`);
  expect(status).toBe(200);
  expect(json.result).toEqual(result?.scalingSchedule);
  const base = { minReplicas: 2, maxReplicas: 2, idleScaling: true, idleTimeoutMinutes: 15 };
  const entry = { ...NIGHT, ...base, autoscalingMode: 'vertical', isActiveNow: active };
  expect(json.result).toEqual({
    entries: [entry],
    baseConfig: { ...base, minReplicaMemoryGb: 8, maxReplicaMemoryGb: 32 },
    ...(active ? { activeEntryId: NIGHT.id } : {}),
  });
});

test('a service without a schedule has the reply 404, with JSON, and no field for it', async () => {
  const { ask } = await cloudServer();
  const { status, json } = await ask('GET', `${PATH}/scalingSchedule`);
  expect([status, json.status]).toEqual([404, 404]);
  expect((await ask('GET', PATH)).json.result).not.toHaveProperty('scalingSchedule');
});

test('the usage report names the tier of the organization', async () => {
  const { ask } = await cloudServer();
  const { json } = await ask('GET', '/usageCost?from_date=2026-11-10&to_date=2026-11-10');
  expect(json.result?.costs?.[0]).toMatchObject({ organizationTier: 'SCALE' });
});
