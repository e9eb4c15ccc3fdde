import { expect, test } from 'vitest';
import type { JsonObject } from '../../src/base/text.ts';
import { observeService } from '../../src/commands/service-observe.ts';
import type { Snapshot } from '../../src/domain/change.ts';
import { NOON, service } from './fixtures.ts';
import { OFF, REFUSED, servicesOf } from './reads.ts';

const LAST_SEEN: Snapshot = { fields: { state: 'idle' }, seenAt: NOON, source: 'a reply' };
const core = service('lab-core', { id: 'a', lastSeen: LAST_SEEN });
const PRIMARY = { state: 'running', isPrimary: true, dataWarehouseId: 'w' };
const SECONDARIES = { secondaries: true } as const;
const SCHEDULE = { schedule: true } as const;

const other = (id: string, state: string | null, dataWarehouseId = 'w'): JsonObject => ({
  ...{ id, name: `name-${id}`, state, dataWarehouseId },
});

test('a service is read for its preview, by a person who waits, and not from a cache', async () => {
  const context = servicesOf({ a: { state: 'running', iamRole: 'secret-role' } });
  const { before, gaps } = await observeService(core, context);
  expect(before).toMatchObject({ fields: { state: 'running' }, seenAt: NOON, wasRead: true });
  expect(JSON.stringify(before)).not.toContain('secret-role');
  expect(gaps).toEqual([]);
  expect(context.asked).toEqual([['service', { fresh: true, waiting: true }]]);
});

test.for([
  [REFUSED, [`Current state unknown: ${REFUSED.why}`]],
  [OFF, []],
] as const)('after a failed read %o the last seen state is shown', async ([read, gaps]) => {
  const observed = await observeService(core, servicesOf({ a: read }));
  expect(observed).toEqual({ before: LAST_SEEN, gaps });
});

test('the secondaries of a primary are those of its warehouse that were not deleted', async () => {
  const services = [
    ...[other('a', 'running'), other('b', 'running'), other('c', 'stopped'), other('d', null)],
    ...[other('e', 'terminated'), other('f', 'softdeleting'), other('g', 'running', 'other')],
    { id: 'h1234567890', state: 'idle', dataWarehouseId: 'w' },
  ];
  const context = servicesOf({ a: PRIMARY }, { services });
  const { before } = await observeService(core, context, SECONDARIES);
  expect(before?.volatileFields).toEqual({
    runningSecondaries: ['name-b', 'h1234567'],
    otherSecondaries: ['name-c', 'name-d'],
  });
  expect(context.asked[1]).toEqual([
    'services',
    { fresh: true, waiting: true, organization: 'o1' },
  ]);
});

const ALONE = { ...PRIMARY, dataWarehouseId: null };
const RUNNING = { id: 'b', state: 'running' };
const UNKNOWN = `Secondaries of its warehouse unknown: ${REFUSED.why}`;

type Expected = { readonly asked: number; readonly gaps: readonly string[] };

test.for<[string, JsonObject, Parameters<typeof servicesOf>[1], Expected]>([
  ['a secondary', { ...PRIMARY, isPrimary: false }, {}, { asked: 1, gaps: [] }],
  ['a service of an unknown role', { state: 'running' }, {}, { asked: 1, gaps: [] }],
  ['a primary of no known warehouse', ALONE, { services: [RUNNING] }, { asked: 2, gaps: [] }],
  ['a primary with a refused list', PRIMARY, { services: REFUSED }, { asked: 2, gaps: [UNKNOWN] }],
])('%s has no secondaries to name', async ([, own, answers, { asked, gaps }]) => {
  const context = servicesOf({ a: own }, answers);
  const observed = await observeService(core, context, SECONDARIES);
  expect(observed.before?.volatileFields).toBeUndefined();
  expect([context.asked.length, observed.gaps]).toEqual([asked, gaps]);
});

const ENTRY = { id: 'e1', name: 'Nights', endHourUtc: 6 };

const ACTIVE = { activeEntryId: 'e1', entries: [ENTRY] };
const WEEKEND = { ...ENTRY, weekdays: [0, 6], startHourUtc: 22 };
const DAYS = { ...ACTIVE, entries: [WEEKEND, { id: 'e2', weekdays: [1] }] };
const BEGINS = [{ name: 'Nights', weekdays: [0, 6], hour: 22 }];
const NIGHTS = { scheduleEntry: 'Nights', scheduleUntil: 6 };
const APPLIED = { currentScaling: { activeEntryId: 'e1234567890' } };
const NAMELESS = { scheduleEntry: 'e1234567', scheduleUntil: null };

test.for<[string, JsonObject, Parameters<typeof servicesOf>[1], object | undefined, number]>([
  ['carried by the service', { scalingSchedule: ACTIVE }, {}, NIGHTS, 1],
  ['named only by its applied size', APPLIED, {}, NAMELESS, 1],
  ['read from an older server', {}, { schedule: ACTIVE }, NIGHTS, 2],
  ['known with its days', { scalingSchedule: DAYS }, {}, { ...NIGHTS, scheduleBegins: BEGINS }, 1],
  ['not active', { scalingSchedule: { entries: [ENTRY] } }, {}, undefined, 1],
  ['not configured on an older server', {}, { schedule: null }, undefined, 2],
])('an entry of the schedule that is %s', async ([, own, answers, fields, asked]) => {
  const context = servicesOf({ a: own }, answers);
  const { before, gaps } = await observeService(core, context, SCHEDULE);
  expect(before?.volatileFields).toEqual(fields);
  expect([gaps, context.asked.length]).toEqual([[], asked]);
});

test('a schedule that cannot be read is named', async () => {
  const context = servicesOf({ a: {} }, { schedule: REFUSED });
  const { gaps } = await observeService(core, context, SCHEDULE);
  expect(gaps).toEqual([`Scaling schedule unknown: ${REFUSED.why}`]);
});
