import { expect, test } from 'vitest';
import type { JsonObject } from '../../src/base/text.ts';
import type { Target } from '../../src/domain/change.ts';
import type { Service } from '../../src/domain/targets.ts';
import { hasSameFacts } from '../../src/domain/targets.ts';
import { currentTarget } from '../../src/workflow/old/current-target.ts';

const PROD: Service = {
  id: 'p',
  name: 'analytics-prod',
  aliases: [],
  tags: ['prod', 'core'],
  warehouse: 'main',
  team: null,
  pipes: [],
  source: 'configuration',
  lastSeen: null,
};
const LEARNED: Service = { ...PROD, id: 'l', name: 'new', tags: null, warehouse: null };
const UNKNOWN = { tags: null, warehouse: null };

function facts(target: Partial<Target>, body: JsonObject = {}) {
  const stored: Target = { kind: 'service', id: 'p', name: 'old', tags: ['dev'], warehouse: 'lab' };
  const plan = { target: { ...stored, ...target }, body };
  const current = currentTarget(
    { services: () => [PROD, LEARNED], discoversServices: false },
    plan,
  );
  // The stored tags and warehouse have no influence; kind, id and name stay.
  expect(current).toMatchObject({ ...target, name: 'old' });
  return { tags: current.tags, warehouse: current.warehouse };
}

test.for<[string, Partial<Target>, JsonObject, object]>([
  ['a configured service', {}, {}, { tags: ['prod', 'core'], warehouse: 'main' }],
  ['a service that was only learned', { id: 'l' }, {}, UNKNOWN],
  ['a service that is gone', { id: 'gone' }, {}, UNKNOWN],
  ['an alert', { kind: 'alert' }, {}, { tags: [], warehouse: null }],
  ['a new service', { kind: 'new service' }, { name: 'x' }, { tags: [], warehouse: null }],
  [
    'a new service in a warehouse of the configuration',
    { kind: 'new service' },
    { dataWarehouseId: 'MAIN' },
    { tags: ['prod', 'core'], warehouse: 'main' },
  ],
  [
    'a new service in a warehouse that the configuration does not have',
    { kind: 'new service' },
    { dataWarehouseId: 'other' },
    UNKNOWN,
  ],
  [
    'the freeze of a service',
    { kind: 'freeze' },
    { scope: { service: { id: 'p', name: 'analytics-prod' } } },
    { tags: ['prod', 'core'], warehouse: 'main' },
  ],
  [
    'the freeze of a service that is gone',
    { kind: 'freeze' },
    { scope: { service: { id: 'gone', name: 'gone' } } },
    UNKNOWN,
  ],
  [
    'the freeze of a warehouse that is gone',
    { kind: 'freeze' },
    { scope: { warehouse: 'gone' } },
    UNKNOWN,
  ],
  [
    'the freeze of a tag that no service has',
    { kind: 'freeze' },
    { scope: { tag: 'gone' } },
    { tags: ['gone'], warehouse: null },
  ],
  ['the freeze of everything', { kind: 'freeze' }, { scope: { everything: true } }, UNKNOWN],
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
