import { expect, test } from 'vitest';
import type { JsonObject } from '../../src/base/text.ts';
import { type Target, targetKey } from '../../src/domain/change.ts';
import type { Service } from '../../src/domain/targets.ts';
import { hasSameFacts } from '../../src/domain/targets.ts';
import {
  currentTarget,
  hasChangedSinceEnd,
  isOperatorOf,
  targetChanges,
} from '../../src/workflow/target.ts';
import {
  aChange,
  ana,
  ben,
  createTestContext,
  dora,
  loaded,
  minutes,
  moved,
  PLAN,
  STAGING,
} from './context.ts';

const PROD: Service = { ...STAGING, id: 'p', name: 'analytics-prod', tags: ['prod', 'core'] };
const LEARNED: Service = { ...PROD, id: 'l', name: 'new', tags: null, warehouse: null };
const FREEZE = { kind: 'freeze' } as const;
const SCOPE = { service: { id: 'p', name: 'analytics-prod' } };
const GONE = { service: { id: 'gone', name: 'gone' } };
const OF_PROD = { tags: ['prod', 'core'], warehouse: 'main' };
const NOTHING = { tags: [], warehouse: null };
const UNKNOWN = { tags: null, warehouse: null };

function facts(target: Partial<Target>, body: JsonObject = {}) {
  const stored: Target = { kind: 'service', id: 'p', name: 'old', tags: ['dev'], warehouse: 'lab' };
  const plan = { target: { ...stored, ...target }, body };
  const directory = { services: () => [PROD, LEARNED], discoversServices: false };
  const current = currentTarget(directory, plan);
  // The stored tags and warehouse have no influence; kind, id and name stay.
  expect(current).toMatchObject({ ...target, name: 'old' });
  return { tags: current.tags, warehouse: current.warehouse };
}

test.for<[string, Partial<Target>, JsonObject, object]>([
  ['a configured service', {}, {}, OF_PROD],
  ['a service that was only learned', { id: 'l' }, {}, UNKNOWN],
  ['a service that is gone', { id: 'gone' }, {}, UNKNOWN],
  ['an alert', { kind: 'alert' }, {}, NOTHING],
  ['a new service', { kind: 'new service' }, { name: 'x' }, NOTHING],
  [
    'a new service in a listed warehouse',
    { kind: 'new service' },
    { dataWarehouseId: 'MAIN' },
    OF_PROD,
  ],
  ['a new service in another one', { kind: 'new service' }, { dataWarehouseId: 'other' }, UNKNOWN],
  ['the freeze of a service', FREEZE, { scope: SCOPE }, OF_PROD],
  ['the freeze of a service that is gone', FREEZE, { scope: GONE }, UNKNOWN],
  ['the freeze of a warehouse that is gone', FREEZE, { scope: { warehouse: 'gone' } }, UNKNOWN],
  ['the freeze of a tag of nobody', FREEZE, { scope: { tag: 'x' } }, { ...NOTHING, tags: ['x'] }],
  ['the freeze of everything', FREEZE, { scope: { everything: true } }, UNKNOWN],
])('tags and warehouse come from the current directory: %s', ([, target, body, expected]) => {
  expect(facts(target, body)).toEqual(expected);
});

const target: Target = { kind: 'service', id: 'p', name: 'a', tags: ['x', 'y'], warehouse: null };

test.for<[string, Partial<Target>, boolean]>([
  ['the order of the tags', { tags: ['y', 'x'] }, true],
  ['the name', { name: 'b' }, true],
  ['one more tag', { tags: ['x', 'y', 'z'] }, false],
  ['unknown tags', { tags: null }, false],
  ['the warehouse', { warehouse: 'main' }, false],
])('whether two targets are equal for the policy when they differ in %s', ([, over, same]) => {
  expect(hasSameFacts(target, { ...target, ...over })).toBe(same);
});

const SERVICE: Target = { kind: 'service', id: 'd', name: 'dev', tags: ['dev'], warehouse: 'lab' };
const DISCOVERED: Service = {
  ...LEARNED,
  ...{ id: 'd', discovered: { tags: ['dev'], warehouse: 'lab' } },
};

function currentOf(services: readonly Service[], discoversServices = true): Target {
  const plan = { target: { ...SERVICE, discovered: true as const }, body: {} };
  return currentTarget({ services: () => services, discoversServices }, plan);
}

test('a discovered service has the facts of the server', () => {
  expect(currentOf([DISCOVERED])).toEqual({ ...SERVICE, discovered: true });
});

test('a discovered service that the file lists now has the facts of the file only', () => {
  const listed = { ...PROD, id: 'd' };
  expect(currentOf([listed])).toEqual({ ...SERVICE, tags: PROD.tags, warehouse: PROD.warehouse });
});

test.for<[string, boolean, Partial<Target>]>([
  ['with extended reads needs the permission for discovered services', true, { discovered: true }],
  ['with cloud.reads: contract is one with unknown tags', false, {}],
])('a service that neither the file nor the server has %s', ([, discovers, more]) => {
  expect(currentOf([], discovers)).toEqual({ ...SERVICE, ...UNKNOWN, ...more });
});

test('a listed and a discovered service with the same tags do not have the same facts', () => {
  expect(hasSameFacts(SERVICE, { ...SERVICE })).toBe(true);
  expect(hasSameFacts(SERVICE, { ...SERVICE, discovered: true })).toBe(false);
});

test('a target was changed since a change only by one that succeeded after it', async () => {
  const { context, pass } = await createTestContext();
  const stop = await aChange(context, { state: 'succeeded' });
  const isChanged = async () => hasChangedSinceEnd(context.events, stop);
  const other = { answeredAt: minutes(5) };
  pass(5 * 60_000);
  await aChange(context, { ...other, state: 'failed' });
  await aChange(context, { ...other, state: 'rejected' });
  const elsewhere = { ...PLAN.target, id: '22222222-2222-4222-8222-222222222222' };
  await aChange(context, { ...other, state: 'succeeded', plan: { target: elsewhere } });
  expect(await isChanged()).toBe(false);
  const unknown = await aChange(context, { ...other, state: 'unknown' });
  expect(await isChanged()).toBe(false);
  const seen = { type: 'resolved', by: ben, as: 'succeeded', note: 'I saw it' } as const;
  await moved(context, unknown.id, seen);
  expect(await isChanged()).toBe(true);
  const held = await targetChanges(context.events, targetKey(stop));
  expect(held.map(({ change }) => change)).toContain(unknown.id);
  expect(await hasChangedSinceEnd(context.events, await loaded(context, unknown.id))).toBe(false);
});

test('an operator of a service is a user whom a rule admits to one of its changes', async () => {
  const { context, roles } = await createTestContext();
  const is = (by: typeof ana) => isOperatorOf(context, PLAN.target, by);
  expect([await is(ana), await is(ben), await is(dora)]).toEqual([true, false, false]);
  roles.set(ana, 'lookup-failed');
  expect(await is(ana)).toBe(false);
});
